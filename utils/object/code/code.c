/* The code of an ELF file (see code.h). */
#include "utils/object/code/code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"
#include "utils/base/workers.h"

/* Pointer encodings, Linux Standard Base Core 5.0, section 10.5 "DWARF Extensions". */
#define PE_ABSPTR  0x00
#define PE_UDATA4  0x03
#define PE_SDATA4  0x0b
#define PE_UDATA8  0x04
#define PE_SDATA8  0x0c
#define PE_FORMAT  0x0f
#define PE_PCREL   0x10
#define PE_BASE	   0x70
#define PE_OMIT	   0xff
#define PE_ULEB128 0x01

/*
 * The unread bytes of a section.
 *
 * @addr: the virtual address of the first unread byte
 */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	uint64_t addr;
	bool failed;
};

static const uint8_t *take_code_bytes(struct cursor *c, uint64_t len)
{
	const uint8_t *at = c->at;

	if (c->failed || len > (uint64_t)(c->end - c->at)) {
		c->failed = true;
		return NULL;
	}
	c->at += len;
	c->addr += len;
	return at;
}

static uint64_t take_unsigned(struct cursor *c, unsigned bytes)
{
	const uint8_t *at = take_code_bytes(c, bytes);
	uint64_t value = 0;

	for (unsigned i = 0; at && i < bytes; i++)
		value |= (uint64_t)at[i] << i * 8;
	return value;
}

static uint64_t take_uleb128(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		const uint8_t *at = take_code_bytes(c, 1);

		if (!at)
			return 0;
		if (shift < 64)
			value |= (uint64_t)(*at & 0x7f) << shift;
		if (!(*at & 0x80))
			return value;
	}
}

/*
 * Decode a pointer in one of the encodings that compilers use on this machine. For any other
 * encoding, c->failed becomes true.
 */
static uint64_t take_pointer(struct cursor *c, uint8_t encoding)
{
	uint64_t from = (encoding & PE_BASE) == PE_PCREL ? c->addr : 0;
	uint64_t value = 0;

	if ((encoding & PE_BASE) != PE_PCREL && (encoding & PE_BASE) != 0)
		c->failed = true;
	switch (encoding & PE_FORMAT) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		value = take_unsigned(c, 8);
		break;
	case PE_UDATA4:
		value = take_unsigned(c, 4);
		break;
	case PE_SDATA4:
		value = (uint64_t)(int64_t)(int32_t)take_unsigned(c, 4);
		break;
	case PE_ULEB128:
		value = take_uleb128(c);
		break;
	default:
		c->failed = true;
	}
	return value ? from + value : 0;
}

static const char *name_of(const struct code *code, const GElf_Shdr *head)
{
	size_t names_at;

	return elf_getshdrstrndx(code->file->elf, &names_at) == 0
		       ? elf_strptr(code->file->elf, names_at, head->sh_name)
		       : NULL;
}

/*
 * True when a running program has the section in memory, and the file has the section's content.
 * @head gets the header of the section.
 */
static bool is_in_memory(Elf_Scn *scn, GElf_Shdr *head)
{
	return gelf_getshdr(scn, head) && (head->sh_flags & SHF_ALLOC) &&
	       !(head->sh_flags & SHF_TLS) && head->sh_type != SHT_NOBITS && head->sh_size;
}

/* Add a section. Its bytes are read as they are, without a conversion by libelf. */
static int add_section(struct code *code, Elf_Scn *scn, const GElf_Shdr *head, const char *name)
{
	static const char *const glue[] = { ".init", ".fini", ".plt", ".plt.got", ".plt.sec" };
	struct code_section *sections;
	struct elf_bytes bytes;
	int ret = elf_section_read(code->file, scn, &bytes);

	if (ret < 0)
		return ret == -ENODATA ? 0 : ret;
	sections = bytes.len > UINT64_MAX - head->sh_addr
			   ? NULL
			   : vec_grow(code->sections, code->nr_sections, sizeof(*sections));
	if (!sections) {
		free(bytes.own);
		return bytes.len > UINT64_MAX - head->sh_addr ? 0 : -ENOMEM;
	}
	code->sections = sections;
	sections[code->nr_sections++] = (struct code_section){
		.start = head->sh_addr,
		.end = head->sh_addr + bytes.len,
		.bytes = bytes.bytes,
		.is_code = (head->sh_flags & SHF_EXECINSTR) != 0,
		.is_glue = elf_name_is_one_of(name, glue, ARRAY_SIZE(glue)),
		.own = bytes.own,
	};
	return 0;
}

static int load_sections(struct code *code)
{
	/*
	 * Leave out the sections of call frame information. A search in these sections would take
	 * time, and find nothing: jumps do not read targets from call frame information.
	 */
	static const char *const frames[] = { ".eh_frame", ".eh_frame_hdr" };
	/*
	 * Sections of a damaged file may overlap. Together they must not need more memory than the
	 * file has bytes.
	 */
	uint64_t left = code->file->size;
	int ret = 0;

	for (Elf_Scn *scn = NULL; ret == 0 && (scn = elf_nextscn(code->file->elf, scn)) != NULL;) {
		GElf_Shdr head;
		const char *name;

		if (!is_in_memory(scn, &head))
			continue;
		name = name_of(code, &head);
		if (elf_name_is_one_of(name, frames, ARRAY_SIZE(frames)) || head.sh_size > left)
			continue;
		left -= head.sh_size;
		ret = add_section(code, scn, &head, name);
	}
	return ret;
}

static int add_func(struct code *code, struct code_func func)
{
	const struct code_section *sec = code_section_at(code, func.start);
	struct code_func *funcs;

	if (!sec || !sec->is_code || func.end <= func.start || func.end > sec->end)
		return 0;
	funcs = vec_grow(code->funcs, code->nr_funcs, sizeof(*funcs));
	if (!funcs)
		return -ENOMEM;
	code->funcs = funcs;
	funcs[code->nr_funcs++] = func;
	return 0;
}

/* The fields of a CIE (DWARF's call frame information) that its FDEs share. */
struct cie {
	uint8_t code_encoding;
	uint8_t table_encoding; /* PE_OMIT: the functions have no exception tables */
	bool has_size;		/* the augmentation data have a size */
	bool is_of_signals;	/* the functions are entered by signals, not by calls */
	bool has_personality;
};

/* Read a CIE. @c is at the byte after the identifier. */
static bool read_cie(struct cursor c, struct cie *out)
{
	const uint8_t *version = take_code_bytes(&c, 1);
	const char *letters = (const char *)c.at;
	size_t len = strnlen(letters, c.end - c.at);

	*out = (struct cie){ .code_encoding = PE_ABSPTR, .table_encoding = PE_OMIT };
	if (!version || !take_code_bytes(&c, len + 1))
		return false;
	take_uleb128(&c); /* alignment factor of code */
	take_uleb128(&c); /* alignment factor of data; skipped, so its sign does not matter */
	if (*version == 1)
		take_code_bytes(&c, 1);
	else
		take_uleb128(&c); /* the return address' register */
	if (letters[0] != 'z')
		return !c.failed && !letters[0];
	out->has_size = true;
	take_uleb128(&c);
	for (const char *l = letters + 1; *l && !c.failed; l++) {
		if (*l == 'R')
			out->code_encoding = take_unsigned(&c, 1);
		else if (*l == 'L')
			out->table_encoding = take_unsigned(&c, 1);
		else if (*l == 'P')
			out->has_personality = take_pointer(&c, take_unsigned(&c, 1));
		else if (*l == 'S')
			out->is_of_signals = true;
		else if (*l != 'B')
			return false;
	}
	return !c.failed;
}

/*
 * True when the FDE adds rules to those of its CIE, and the added rules hold from the function's
 * first byte on (DWARF 4, 6.4.2). A function with such rules is not entered by calls.
 *
 * @c: at the first instruction of the FDE
 */
static bool says_more_at_start(struct cursor c)
{
	while (c.at < c.end && !c.failed) {
		uint8_t op = take_unsigned(&c, 1);

		if (op != 0)
			return (op & 0xc0) != 0x40 && !(op >= 0x01 && op <= 0x04);
	}
	return false;
}

static int add_table(struct code *code, struct code_table table, struct code_func *func)
{
	struct code_table *tables = vec_grow(code->tables, code->nr_tables, sizeof(*tables));

	if (!tables)
		return -ENOMEM;
	code->tables = tables;
	tables[code->nr_tables++] = table;
	func->table = code->nr_tables;
	return 0;
}

/* Read an FDE. @c is at the byte after the FDE's CIE pointer. */
static int read_fde(struct code *code, struct cursor c, const struct cie *cie)
{
	struct code_func func = { .start = take_pointer(&c, cie->code_encoding),
				  .has_frames = true };
	struct code_table table = { 0 };
	struct cursor rest;
	int ret;

	func.end = func.start + take_pointer(&c, cie->code_encoding & PE_FORMAT);
	rest = c;
	if (cie->has_size) {
		uint64_t len = take_uleb128(&c);

		rest = c;
		take_code_bytes(&rest, len);
	}
	if (cie->table_encoding != PE_OMIT && !c.failed)
		table.addr = take_pointer(&c, cie->table_encoding);
	func.is_framed = cie->is_of_signals || says_more_at_start(rest);
	func.has_own_unwinder = cie->has_personality && cie->table_encoding == PE_OMIT;
	if (c.failed || !func.start)
		return 0;
	table.base = func.start;
	ret = table.addr ? add_table(code, table, &func) : 0;
	return ret < 0 ? ret : add_func(code, func);
}

static int read_frames(struct code *code, const uint8_t *bytes, uint64_t len, uint64_t addr)
{
	struct cursor c = { bytes, bytes + len, addr, false };
	const uint8_t *cie_at = NULL;
	struct cie cie = { 0 };
	int ret = 0;

	while (ret == 0 && c.end - c.at > 8) {
		uint64_t len = take_unsigned(&c, 4);

		/*
		 * The length 0 marks the end of the entries. The length ~0 announces that the
		 * length follows as a 64-bit number. No tool writes ~0 in .eh_frame.
		 */
		if (len < 4 || len > (uint64_t)(c.end - c.at))
			break;

		struct cursor entry = { c.at, c.at + len, c.addr, false };
		const uint8_t *id_at = entry.at;
		uint64_t id = take_unsigned(&entry, 4);

		take_code_bytes(&c, len);
		if (id == 0)
			continue;
		if (id > (uint64_t)(id_at - bytes))
			continue;
		if (id_at - id != cie_at) {
			struct cursor head = { id_at - id, c.end, 0, false };
			uint64_t cie_len = take_unsigned(&head, 4);

			cie_at = NULL;
			if (cie_len > (uint64_t)(head.end - head.at) || take_unsigned(&head, 4))
				continue;
			if (!read_cie(head, &cie))
				continue;
			cie_at = id_at - id;
		}
		ret = read_fde(code, entry, &cie);
	}
	return ret;
}

/* Order functions by start; if two have the same start, the longer one comes first. */
static int compare_extent(const void *a, const void *b)
{
	const struct code_func *x = a;
	const struct code_func *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

/*
 * Returns @nr if all functions are in the order of compare_extent(). Otherwise returns the index of
 * the first function that is out of order.
 */
static size_t count_sorted(const struct code_func *funcs, size_t nr)
{
	size_t sorted = nr ? 1 : 0;

	while (sorted < nr && compare_extent(&funcs[sorted - 1], &funcs[sorted]) <= 0)
		sorted++;
	return sorted;
}

/*
 * Sort functions. Usually most functions are already in order, and some functions at the end are
 * not. Only the functions at the end are sorted. Then these functions are merged into the part
 * that was already in order. The merge begins with the last function.
 */
static int order_funcs(struct code_func *funcs, size_t nr)
{
	size_t sorted = count_sorted(funcs, nr);
	size_t left = nr - sorted;
	struct code_func *rest cleanup_free = NULL;

	if (!left)
		return 0;
	rest = malloc(left * sizeof(*rest));
	if (!rest)
		return -ENOMEM;
	memcpy(rest, funcs + sorted, left * sizeof(*rest));
	qsort(rest, left, sizeof(*rest), compare_extent);
	while (left) {
		bool is_old = sorted && compare_extent(&funcs[sorted - 1], &rest[left - 1]) > 0;

		funcs[sorted + left - 1] = is_old ? funcs[sorted - 1] : rest[left - 1];
		*(is_old ? &sorted : &left) -= 1;
	}
	return 0;
}

/*
 * Sort functions, and drop each function that begins within an earlier function. If the dropped
 * function ends later, the earlier function is extended to this end. If the earlier function has no
 * exception table, it gets the table of the dropped function. If both functions begin at the
 * same address, the dropped function's flags about frames are added to those of the earlier
 * function. In this case, an earlier function without a name gets the name of the dropped function.
 */
static int sort_funcs(struct code *code)
{
	size_t kept = 0;
	int ret = order_funcs(code->funcs, code->nr_funcs);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < code->nr_funcs; i++) {
		struct code_func *func = &code->funcs[i];
		struct code_func *last = kept ? &code->funcs[kept - 1] : NULL;

		if (!last || func->start >= last->end) {
			code->funcs[kept++] = *func;
			continue;
		}
		/* Symbols of hand-written code may have wrong sizes. */
		last->end = MAX(last->end, func->end);
		if (!last->table)
			last->table = func->table;
		if (func->start != last->start)
			continue;
		if (!last->name)
			last->name = func->name;
		last->has_frames |= func->has_frames;
		last->is_framed |= func->is_framed;
		last->has_own_unwinder |= func->has_own_unwinder;
	}
	code->nr_funcs = kept;
	return 0;
}

static int load_frames(struct code *code)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(code->file->elf, scn)) != NULL;) {
		struct elf_bytes bytes;
		const char *name;
		GElf_Shdr head;
		int ret;

		if (!is_in_memory(scn, &head))
			continue;
		name = name_of(code, &head);
		if (!name || strcmp(name, ".eh_frame") != 0)
			continue;
		ret = elf_section_read(code->file, scn, &bytes);
		if (ret < 0)
			return ret == -ENODATA ? 0 : ret;
		ret = read_frames(code, bytes.bytes, bytes.len, head.sh_addr);
		free(bytes.own);
		return ret < 0 ? ret : sort_funcs(code);
	}
	return 0;
}

/*
 * There are several kinds of special functions: functions that return twice, functions that do not
 * return to their caller, functions that read their return address, functions that the loader
 * calls, and functions that are called by instructions that compilers insert.
 */
bool code_is_special(const char *name)
{
	static const char *const names[] = {
		"__cyg_profile_func_enter",
		"__cyg_profile_func_exit",
		"__fentry__",
		"__libc_dlopen_mode",
		"__libc_longjmp",
		"__libc_siglongjmp",
		"__libc_vfork",
		"__longjmp",
		"__longjmp_chk",
		"__morestack",
		"__restore_rt",
		"__sigsetjmp",
		"__start_context",
		"__tls_get_addr",
		"__tls_get_addr_slow",
		"__vfork",
		"_longjmp",
		"_mcount",
		"_setjmp",
		"_start",
		"clone",
		"__clone",
		"__clone3",
		"dlmopen",
		"dlopen",
		"dlsym",
		"dlvsym",
		"getcontext",
		"longjmp",
		"makecontext",
		"mcount",
		"setcontext",
		"setjmp",
		"siglongjmp",
		"sigsetjmp",
		"swapcontext",
		"vfork",
	};
	static const char *const beginnings[] = {
		"_dl_runtime_resolve", "_dl_runtime_profile", "_dl_tlsdesc_",
		"__x86_indirect_",     "__x86_return_",	      "__x86.get_pc_thunk",
	};

	/* The check of the first letter excludes most names quickly. */
	if (!name || !strchr("_cdglmsv", name[0]) || strncmp(name, "_Z", 2) == 0)
		return false;
	if (elf_name_is_one_of(name, names, ARRAY_SIZE(names)))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++) {
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	}
	return false;
}

static int add_start(struct code *code, struct code_start start)
{
	const struct code_section *sec = code_section_at(code, start.addr);
	struct code_start *starts;

	if (!sec || !sec->is_code)
		return 0;
	starts = vec_grow(code->starts, code->nr_starts, sizeof(*starts));
	if (!starts)
		return -ENOMEM;
	code->starts = starts;
	starts[code->nr_starts++] = start;
	return 0;
}

/*
 * True when one of the first @nr functions of @code has the same range as @func. If the found
 * function has no name, it gets the name of @func.
 *
 * @next: index of the function to compare first; becomes the index after the found function
 */
static bool has_framed(struct code *code, size_t nr, const struct code_func *func, size_t *next)
{
	struct code_func *known = *next < nr ? &code->funcs[*next] : NULL;

	if (!known || known->start != func->start) {
		*next = order_count_below(code->funcs, nr, sizeof(*code->funcs), func->start);
		known = *next < nr ? &code->funcs[*next] : NULL;
	}
	if (!known || known->start != func->start || known->end != func->end)
		return false;
	if (!known->name)
		known->name = func->name;
	++*next;
	return true;
}

static int load_symbol(struct code *code, const GElf_Sym *sym, const char *name, size_t nr_framed,
		       size_t *next)
{
	const struct code_func func = { .start = sym->st_value,
					.end = sym->st_value + sym->st_size,
					.name = name };
	const struct code_start start = { .addr = sym->st_value,
					  .name = name,
					  .is_resolver = GELF_ST_TYPE(sym->st_info) ==
							 STT_GNU_IFUNC,
					  .is_special = code_is_special(name) };
	bool is_known = has_framed(code, nr_framed, &func, next);
	int ret = is_known ? 0 : add_func(code, func);

	if (ret < 0 || (is_known && !start.is_resolver && !start.is_special))
		return ret;
	return add_start(code, start);
}

static int load_symbols(struct code *code, uint32_t type, size_t nr_framed)
{
	struct elf_symbols symbols;
	size_t next = 0;
	int ret = 0;

	if (!elf_symbols_open(code->file, type, &symbols))
		return 0;
	for (size_t i = 1; ret == 0 && i < symbols.nr; i++) {
		const char *name;
		GElf_Sym sym;
		size_t len;

		if (!elf_symbol(&symbols, i, &sym, &name, &len) ||
		    (GELF_ST_TYPE(sym.st_info) != STT_FUNC &&
		     GELF_ST_TYPE(sym.st_info) != STT_GNU_IFUNC) ||
		    sym.st_shndx == SHN_UNDEF || sym.st_size > UINT64_MAX - sym.st_value)
			continue;
		ret = load_symbol(code, &sym, name, nr_framed, &next);
	}
	return ret;
}

static void sort_starts(struct code *code)
{
	for (size_t i = 1; i < code->nr_starts; i++) {
		if (code->starts[i].addr < code->starts[i - 1].addr) {
			qsort(code->starts, code->nr_starts, sizeof(*code->starts), order_u64);
			return;
		}
	}
}

int code_load(const struct elf_file *file, struct code *out)
{
	struct code code cleanup_code = {
		.file = file,
		.tick = out->tick,
		.tick_arg = out->tick_arg,
		.work = out->work,
	};
	int ret = load_sections(&code);

	if (ret == 0)
		ret = load_frames(&code);
	size_t nr_framed = code.nr_funcs;

	if (ret == 0)
		ret = load_symbols(&code, SHT_SYMTAB, nr_framed);
	if (ret == 0)
		ret = load_symbols(&code, SHT_DYNSYM, nr_framed);
	if (ret == 0)
		ret = sort_funcs(&code);
	if (ret < 0)
		return ret;
	sort_starts(&code);
	*out = code;
	code = (struct code){ 0 };
	return 0;
}

int code_add_funcs(struct code *code, const struct code_func *funcs, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < nr; i++)
		ret = add_func(code, funcs[i]);
	return ret < 0 ? ret : sort_funcs(code);
}

/*
 * The default of code_piece(). For this number of functions, a thread needs about 10 ms, and half a
 * megabyte of temporary data.
 */
#define PIECE	    1024
#define THREADS_MAX 8

unsigned code_threads(const struct code *code, size_t nr)
{
	size_t nr_pieces = (nr + code_piece(code) - 1) / code_piece(code);
	unsigned nr_threads = code->work.nr_threads;

	if (!nr_threads)
		nr_threads = nr_pieces > 1 ? workers_count(THREADS_MAX) : 1;
	return MAX((unsigned)MIN(nr_threads, nr_pieces), 1U);
}

void code_run(const struct code *code, unsigned nr, void (*fn)(void *arg, unsigned index),
	      void *arg)
{
	const struct workers_job job = { fn, arg, code->tick, code->tick_arg };

	workers_run(nr, &job);
}

size_t code_piece(const struct code *code)
{
	return code->work.piece ? code->work.piece : PIECE;
}

void code_forget_starts(struct code *code)
{
	free(code->starts);
	code->starts = NULL;
	code->nr_starts = 0;
}

void code_deinit(struct code *code)
{
	for (size_t i = 0; i < code->nr_sections; i++)
		free(code->sections[i].own);
	free(code->starts);
	free(code->sections);
	free(code->tables);
	free(code->funcs);
	*code = (struct code){ 0 };
}

const struct code_section *code_section_at(const struct code *code, uint64_t addr)
{
	for (size_t i = 0; i < code->nr_sections; i++) {
		if (code->sections[i].start <= addr && addr < code->sections[i].end)
			return &code->sections[i];
	}
	return NULL;
}

const uint8_t *code_bytes(const struct code *code, uint64_t addr, uint64_t len)
{
	const struct code_section *sec = code_section_at(code, addr);

	return sec && len <= sec->end - addr ? sec->bytes + (addr - sec->start) : NULL;
}

static size_t count_until(const struct code *code, uint64_t addr)
{
	return order_count_until(code->funcs, code->nr_funcs, sizeof(*code->funcs), addr);
}

const struct code_func *code_func_at(const struct code *code, uint64_t addr)
{
	size_t nr = count_until(code, addr);

	return nr && addr < code->funcs[nr - 1].end ? &code->funcs[nr - 1] : NULL;
}

const struct code_func *code_func_from(const struct code *code, uint64_t addr, size_t *near)
{
	size_t i = *near;

	if (i >= code->nr_funcs || code->funcs[i].start > addr)
		i = count_until(code, addr);
	while (i < code->nr_funcs && code->funcs[i].start <= addr)
		i++;
	/* The next address may be in function i - 1 again, so the next search begins there. */
	*near = i ? i - 1 : 0;
	return i && addr < code->funcs[i - 1].end ? &code->funcs[i - 1] : NULL;
}

uint64_t code_next_start(const struct code *code, uint64_t addr)
{
	const struct code_section *sec = code_section_at(code, addr);
	size_t nr = count_until(code, addr);
	uint64_t end = sec ? sec->end : addr;

	return nr < code->nr_funcs ? MIN(code->funcs[nr].start, end) : end;
}

/*
 * The sources of GCC describe the layout of exception tables (gcc/except.c, "Exception Handling
 * Tables"). Compilers write these tables for C++, and for C with cleanups.
 */
bool code_landings(const struct code *code, const struct code_func *func,
		   void (*fn)(uint64_t addr, void *arg), void *arg)
{
	const struct code_table *table = func->table ? &code->tables[func->table - 1] : NULL;
	const struct code_section *sec = table ? code_section_at(code, table->addr) : NULL;

	if (!table)
		return true;
	if (!sec)
		return false;

	struct cursor c = {
		sec->bytes + (table->addr - sec->start),
		sec->bytes + (sec->end - sec->start),
		table->addr,
		false,
	};
	uint8_t encoding = take_unsigned(&c, 1);
	uint64_t base = encoding == PE_OMIT ? table->base : take_pointer(&c, encoding);

	if (take_unsigned(&c, 1) != PE_OMIT)
		take_uleb128(&c); /* distance to the types */
	encoding = take_unsigned(&c, 1);

	uint64_t len = take_uleb128(&c);

	if (c.failed || len > (uint64_t)(c.end - c.at))
		return false;
	c.end = c.at + len;
	while (!c.failed && c.at < c.end) {
		take_pointer(&c, encoding);
		take_pointer(&c, encoding);

		uint64_t landing = take_pointer(&c, encoding);

		take_uleb128(&c); /* index of an action */
		if (landing && !c.failed)
			fn(base + landing, arg);
	}
	return !c.failed;
}
