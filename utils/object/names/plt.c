/* Library call stubs: the PLT entries of a module as symbols (see plt.h). */
#include "utils/object/names/plt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/isa.h"
#include "utils/base/cleanup.h"
#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"

/* Entry N of the PLT is at the address @first + N * @entry. */
struct plt_layout {
	uint64_t first;
	uint64_t entry;
	uint64_t end;
};

/* Returns the form of PLT entries on the file's machine, or NULL when the machine is unknown. */
static const struct isa_plt *find_machine(const struct elf_file *file)
{
	const struct isa *isa = isa_of(file->head.e_machine, 0);

	return isa ? &isa->plt : NULL;
}

/*
 * True when .comment tells that mold has linked the file. In files of mold, the first entry of the
 * PLT may have another length than in files of other linkers.
 */
static bool is_made_by_mold(const struct elf_file *file)
{
	struct elf_section sec;

	if (!elf_section_by_name(file, ".comment", &sec) || !sec.data)
		return false;

	const char *text = sec.data->d_buf;
	const char *end = text + sec.data->d_size;

	while (text < end) {
		size_t len = strnlen(text, end - text);

		if (len >= 5 && memcmp(text, "mold ", 5) == 0)
			return true;
		text += len + 1;
	}
	return false;
}

static bool find_layout(const struct elf_file *file, const struct isa_plt *machine,
			struct plt_layout *plt)
{
	struct elf_section sec;
	uint64_t skip = 0;

	*plt = (struct plt_layout){ .entry = machine->entry };
	if (elf_section_by_name(file, ".plt.sec", &sec)) {
		if (sec.head.sh_entsize)
			plt->entry = sec.head.sh_entsize;
	} else if (elf_section_by_name(file, ".plt", &sec)) {
		skip = machine->skip;
		if (machine->skip_mold && is_made_by_mold(file))
			skip = machine->skip_mold;
	} else {
		return false;
	}
	if (skip > sec.head.sh_size ||
	    __builtin_add_overflow(sec.head.sh_addr, sec.head.sh_size, &plt->end))
		return false;
	plt->first = sec.head.sh_addr + skip;
	return true;
}

static bool get_reloc(const struct elf_section *sec, size_t index, GElf_Rela *reloc)
{
	GElf_Rel rel;

	if (sec->head.sh_type == SHT_RELA)
		return gelf_getrela(sec->data, index, reloc) != NULL;
	if (sec->head.sh_type != SHT_REL || !gelf_getrel(sec->data, index, &rel))
		return false;
	*reloc = (GElf_Rela){ .r_offset = rel.r_offset, .r_info = rel.r_info };
	return true;
}

static size_t count_relocs(const struct elf_section *sec)
{
	return sec->data && sec->head.sh_entsize ? sec->data->d_size / sec->head.sh_entsize : 0;
}

void plt_entries_deinit(struct plt_entries *plt)
{
	free(plt->entries);
	*plt = (struct plt_entries){ 0 };
}

static int add_entry(struct plt_entries *out, struct plt_entry entry)
{
	struct plt_entry *entries = vec_room(out->entries, out->nr, &out->cap, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	out->entries = entries;
	out->entries[out->nr++] = entry;
	return 0;
}

/*
 * Add the entries of the PLT. Entry N belongs to relocation N. An entry is left out when its
 * relocation has no name (IRELATIVE).
 */
static int add_plt_entries(const struct elf_file *file, const struct isa_plt *machine,
			   const struct elf_section *relocs, struct elf_symbols *symbols,
			   struct plt_entries *out)
{
	struct plt_layout plt;
	GElf_Rela reloc;

	if (!find_layout(file, machine, &plt))
		return 0;
	for (size_t i = 0; i < count_relocs(relocs) && get_reloc(relocs, i, &reloc); i++) {
		struct plt_entry entry = {
			.addr = plt.first + i * plt.entry,
			.size = plt.entry,
			.slot = reloc.r_offset,
			.reloc = i,
		};
		GElf_Sym sym;

		if (entry.addr + plt.entry > plt.end)
			break;
		if (GELF_R_TYPE(reloc.r_info) != machine->jump_slot ||
		    !elf_symbol(symbols, GELF_R_SYM(reloc.r_info), &sym, &entry.name,
				&entry.name_len) ||
		    entry.name_len == 0)
			continue;

		int rc = add_entry(out, entry);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool is_function(const GElf_Sym *sym)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/*
 * Add imported functions that are called through the GOT. Such a function has no PLT entry, so it
 * gets the address of its relocation entry.
 */
static int add_got_calls(const struct isa_plt *machine, const struct elf_section *relocs,
			 struct elf_symbols *symbols, struct plt_entries *out)
{
	GElf_Rela reloc;

	for (size_t i = 0; i < count_relocs(relocs) && get_reloc(relocs, i, &reloc); i++) {
		struct plt_entry entry = {
			.addr = relocs->head.sh_addr + i * relocs->head.sh_entsize,
			.size = relocs->head.sh_entsize,
			.slot = reloc.r_offset,
			.reloc = PLT_NO_RELOC,
		};
		GElf_Sym sym;

		if (GELF_R_TYPE(reloc.r_info) != machine->glob_dat ||
		    !elf_symbol(symbols, GELF_R_SYM(reloc.r_info), &sym, &entry.name,
				&entry.name_len) ||
		    entry.name_len == 0 || !is_function(&sym) || sym.st_shndx != SHN_UNDEF)
			continue;

		int rc = add_entry(out, entry);

		if (rc < 0)
			return rc;
	}
	return 0;
}

int plt_entries_load(const struct elf_file *file, struct plt_entries *out)
{
	const struct isa_plt *machine = find_machine(file);
	struct elf_section relocs;
	struct elf_symbols symbols;
	int rc = 0;

	if (!machine || !elf_symbols_open(file, SHT_DYNSYM, &symbols))
		return 0;
	if (elf_section_by_name(file, ".rela.plt", &relocs) ||
	    elf_section_by_name(file, ".rel.plt", &relocs))
		rc = add_plt_entries(file, machine, &relocs, &symbols, out);
	if (rc == 0 && machine->glob_dat && elf_section_by_name(file, ".rela.dyn", &relocs))
		rc = add_got_calls(machine, &relocs, &symbols, out);
	return rc;
}

/*
 * True for a function whose calls through the GOT do not prove that the program was compiled with
 * -fno-plt. Start files and compilers add calls of this function to any program.
 */
static bool is_no_proof(const char *name)
{
	static const char *const names[] = {
		"__stack_chk_fail",
		"__monstartup",
		"__cxa_atexit",
		"__tls_get_addr",
		"_Unwind_Resume",
		"__cxa_finalize",
		"__libc_start_main",
		"__gmon_start__",
		"mcount",
		"_mcount",
		"__fentry__",
		"__cyg_profile_func_enter",
		"__cyg_profile_func_exit",
	};

	return elf_name_is_one_of(name, names, ARRAY_SIZE(names));
}

/*
 * Make a sorted list of some GOT slots. A call through a slot of this list proves that the module
 * was compiled with -fno-plt. Returns NULL when memory is short.
 */
static uint64_t *proving_slots(const struct plt_entries *plt, size_t *nr)
{
	uint64_t *slots = calloc(plt->nr + 1, sizeof(*slots));

	*nr = 0;
	for (size_t i = 0; slots && i < plt->nr; i++) {
		if (plt->entries[i].reloc == PLT_NO_RELOC && !is_no_proof(plt->entries[i].name))
			slots[(*nr)++] = plt->entries[i].slot;
	}
	if (*nr)
		qsort(slots, *nr, sizeof(*slots), order_u64);
	return slots;
}

/*
 * True when code calls or jumps through a library function's GOT slot (x86: ff 15, ff 25, 32-bit
 * distance). Code that only reads a slot does not count: such code takes the function's address,
 * and does not call the function.
 */
static bool has_call_through_got(const struct elf_file *file, const struct plt_entries *plt)
{
	struct elf_section text;
	size_t nr;
	uint64_t *slots cleanup_free = proving_slots(plt, &nr);

	if (!nr || !elf_section_by_name(file, ".text", &text) || !text.data)
		return false;

	const uint8_t *code = text.data->d_buf;
	const uint8_t *end = code + text.data->d_size;

	for (const uint8_t *at = code; end - at >= 6; at++) {
		int32_t distance;

		at = memchr(at, 0xff, end - at - 5);
		if (!at)
			return false;
		if (at[1] != 0x15 && at[1] != 0x25)
			continue;
		memcpy(&distance, at + 2, sizeof(distance));

		uint64_t slot = text.head.sh_addr + (at + 6 - code) + distance;

		if (bsearch(&slot, slots, nr, sizeof(slot), order_u64))
			return true;
	}
	return false;
}

bool plt_is_bypassed(const struct elf_file *file, const struct plt_entries *plt)
{
	for (size_t i = 0; i < plt->nr && plt->entries[i].reloc != PLT_NO_RELOC; i++) {
		if (!is_no_proof(plt->entries[i].name))
			return false;
	}
	return has_call_through_got(file, plt);
}

int plt_add_symbols(const struct elf_file *file, struct symtab *out)
{
	struct plt_entries plt cleanup_plt_entries = { 0 };
	size_t known_bytes = out->name_bytes;
	int rc = plt_entries_load(file, &plt);

	for (size_t i = 0; rc == 0 && i < plt.nr; i++) {
		const struct plt_entry *e = &plt.entries[i];

		if (e->addr >= file->base)
			rc = symtab_add(out, e->addr - file->base, e->size, 'P', e->name,
					e->name_len);
		if (rc == 0 && elf_has_too_long_names(file, out->name_bytes - known_bytes))
			rc = -EFBIG;
	}
	return rc;
}
