/* Debug information about functions (see dwarf_info.h). */
#include "utils/object/dwarf/dwarf_info.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/order.h"
#include "utils/base/containers/vec.h"
#include "utils/object/dwarf/debug_file.h"
#include "utils/object/dwarf/dwarf_alt.h"
#include "utils/object/dwarf/dwarf_split.h"
#include "utils/object/dwarf/dwarf_type.h"
#include "utils/object/elf_file.h"

#define NESTING_MAX 64
#define PARAMS_MAX  255
#define INLINED_MAX 256

/*
 * Limits on the number of entries that are read, and on the bytes of names that are kept. Each
 * limit is a number per byte of debug information, plus a constant. The output of compilers needs
 * at most a tenth of each limit.
 */
#define STEPS_PER_BYTE	4
#define STEPS_MORE	(64U << 10)
#define TEXT_PER_BYTE	16
#define TEXT_MORE	(1U << 20)
/* For the limits, each byte of a compressed section counts as this many bytes. */
#define COMPRESSED_MORE 8

/*
 * Find the entry that has the directory of the sources. If @unit is a split unit, this entry is the
 * skeleton. Otherwise, this entry is the first entry of @unit.
 */
static bool unit_of(struct dwarf_loader *loader, Dwarf_CU *unit, Dwarf_Die *die)
{
	if (loader->skeleton)
		*die = *loader->skeleton;
	return loader->skeleton || dwarf_cu_die(unit, die, NULL, NULL, NULL, NULL, NULL, NULL);
}

/*
 * Copy the name with which @file is displayed. The copy lives as long as loader->info. Returns NULL
 * on failure, like dwarf_keep_text().
 *
 * @last: an earlier copy, which is returned if it has the same text; or NULL
 */
static const char *keep_file(struct dwarf_loader *loader, Dwarf_Die *die, const char *file,
			     const char *last)
{
	Dwarf_Die unit;

	file = dwarf_shown_file(unit_of(loader, die->cu, &unit) ? &unit : NULL, file);
	/* Successive functions mostly have the same file. */
	return last && strcmp(last, file) == 0 ? last : dwarf_keep_text(loader, file, strlen(file));
}

/*
 * Finds the file whose number is attribute @name of @die. In dwarf_decl_file() of libdw, number 0
 * means that there is no file. But in DWARF 5 the number 0 is the first file, and clang uses it.
 */
static const char *source_file(struct dwarf_loader *loader, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Die cu;
	Dwarf_Half version;
	Dwarf_Files *files;
	size_t nr;
	Dwarf_Word index;

	if (!dwarf_attr_integrate(die, name, &attr) || dwarf_formudata(&attr, &index) != 0 ||
	    !unit_of(loader, attr.cu, &cu) ||
	    dwarf_cu_info(cu.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) != 0 ||
	    dwarf_getsrcfiles(&cu, &files, &nr) != 0)
		return NULL;
	return index < nr && (index || version >= 5) ? dwarf_filesrc(files, index, NULL, NULL)
						     : NULL;
}

static void note_place(struct dwarf_loader *loader, Dwarf_Die *die, struct dwarf_func *func)
{
	const struct dwarf_info *info = loader->info;
	const char *last = info->nr_funcs ? info->funcs[info->nr_funcs - 1].file : NULL;
	const char *file = source_file(loader, die, DW_AT_decl_file);
	int line;

	if (!file || dwarf_decl_line(die, &line) < 0)
		return;
	func->file = keep_file(loader, die, file, last);
	func->line = line;
}

/*
 * True for headers of libraries. Functions in such headers have many inlined calls of one another.
 * These calls are of no interest.
 */
static bool is_of_library(const char *file)
{
	return file &&
	       (strncmp(file, "/usr/include/", 13) == 0 || strncmp(file, "/usr/lib/", 9) == 0);
}

static void add_inlined(struct dwarf_loader *loader, Dwarf_Die *call, struct dwarf_func *func)
{
	Dwarf_Attribute attr;
	const char *name = dwarf_attr_integrate(call, DW_AT_linkage_name, &attr)
				   ? dwarf_formstring(&attr)
				   : dwarf_diename(call);
	const char *file = source_file(loader, call, DW_AT_call_file);
	Dwarf_Word line = 0;

	if (!name || is_of_library(file) || func->nr_inlined == INLINED_MAX)
		return;

	struct dwarf_inline *all = vec_grow(func->inlined, func->nr_inlined, sizeof(*all));

	if (!all) {
		loader->oom = true;
		return;
	}
	func->inlined = all;
	dwarf_number(call, DW_AT_call_line, &line);
	all[func->nr_inlined++] = (struct dwarf_inline){
		.name = dwarf_keep_text(loader, name, strlen(name)),
		.file = file ? keep_file(loader, call, file, func->file) : NULL,
		.line = MIN(line, (Dwarf_Word)UINT32_MAX),
	};
}

static void find_inlined(struct dwarf_loader *loader, Dwarf_Die *die, struct dwarf_func *func,
			 int nesting)
{
	Dwarf_Die child;

	if (nesting > NESTING_MAX || !dwarf_first(loader, die, &child))
		return;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_inlined_subroutine)
			add_inlined(loader, &child, func);
		if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block)
			find_inlined(loader, &child, func, nesting + 1);
	} while (!loader->oom && dwarf_next(loader, &child));
}

/*
 * Returns the register that has the parameter at the function's start @pc, or -1 when none has it.
 */
static int entry_register(Dwarf_Die *param, Dwarf_Addr pc)
{
	Dwarf_Attribute attr;
	Dwarf_Op *expr;
	size_t len;

	if (!dwarf_attr(param, DW_AT_location, &attr) ||
	    dwarf_getlocation_addr(&attr, pc, &expr, &len, 1) != 1 || len != 1)
		return -1;
	if (expr->atom >= DW_OP_reg0 && expr->atom <= DW_OP_reg31)
		return expr->atom - DW_OP_reg0;
	return expr->atom == DW_OP_regx && expr->number < 128 ? (int)expr->number : -1;
}

static void add_params(struct dwarf_loader *loader, Dwarf_Die *die, Dwarf_Addr pc,
		       struct dwarf_func *func)
{
	Dwarf_Die child;

	if (!dwarf_first(loader, die, &child))
		return;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter || func->nr_params == PARAMS_MAX)
			continue;

		struct dwarf_param *params = vec_grow(func->params, func->nr_params,
						      sizeof(*params));

		if (!params) {
			loader->oom = true;
			return;
		}
		func->params = params;

		struct dwarf_param *param = &params[func->nr_params++];

		dwarf_type_of(loader, &child, &param->type);
		param->reg = entry_register(&child, pc);
	} while (dwarf_next(loader, &child));
}

/*
 * Find the start of a function. If a function has several parts (foo.cold), it begins with the
 * first part.
 */
static bool entry_of(Dwarf_Die *die, Dwarf_Addr *pc)
{
	Dwarf_Addr base;
	Dwarf_Addr end;

	return dwarf_entrypc(die, pc) == 0 || dwarf_ranges(die, 0, &base, pc, &end) > 0;
}

static void add_func(struct dwarf_loader *loader, Dwarf_Die *die)
{
	struct dwarf_info *info = loader->info;
	Dwarf_Addr pc;

	if (!entry_of(die, &pc) || pc < loader->base)
		return;

	struct dwarf_func *funcs = vec_grow(info->funcs, info->nr_funcs, sizeof(*funcs));
	struct dwarf_func func = { .addr = pc - loader->base };

	if (!funcs) {
		loader->oom = true;
		return;
	}
	info->funcs = funcs;
	note_place(loader, die, &func);
	add_params(loader, die, pc, &func);
	find_inlined(loader, die, &func, 0);
	dwarf_type_of(loader, die, &func.result);
	/*
	 * A pair of long doubles is returned in st(0) and st(1), of which the probe records only
	 * st(0). So such a result has only the name of its type, and no fields.
	 */
	if (func.result.kind == DWARF_STRUCT && func.result.classes[0] == DWARF_CLASS_X87 &&
	    func.result.bytes > 16) {
		func.result.name = "complex_long_double";
		func.result.fields = NULL;
	}
	funcs[info->nr_funcs++] = func;
}

static void walk_entries(struct dwarf_loader *loader, Dwarf_Die *die, int nesting)
{
	Dwarf_Die child;

	if (nesting > NESTING_MAX || !dwarf_first(loader, die, &child))
		return;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			add_func(loader, &child);
			walk_entries(loader, &child, nesting + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
		case DW_TAG_lexical_block:
			walk_entries(loader, &child, nesting + 1);
			break;
		default:
			break;
		}
	} while (!loader->oom && dwarf_next(loader, &child));
}

/*
 * Forget all facts whose keys are addresses in memory, because another file may be loaded at the
 * same addresses.
 */
static void forget_places(struct dwarf_loader *loader)
{
	for (size_t i = 0; i < loader->types.nr_slots; i++)
		free(loader->types.slots[i].value);
	intmap_deinit(&loader->types);
	intmap_deinit(&loader->keys);
	intmap_deinit(&loader->container_keys);
	intmap_deinit(&loader->box_keys);
}

static void give_room(struct dwarf_loader *loader, uint64_t bytes)
{
	loader->steps += STEPS_PER_BYTE * bytes;
	loader->text_bytes += TEXT_PER_BYTE * bytes;
}

/* True when gcc has compiled @unit from C: "GNU C17 12.2.0 ...", "GNU C 4.8.5 ...". */
static bool is_gnu_c(Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	const char *producer = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attr));

	return producer && strncmp(producer, "GNU C", 5) == 0 &&
	       (producer[5] == ' ' || (producer[5] >= '0' && producer[5] <= '9'));
}

/* Load a split unit: the module has only the @skeleton, and another file has the unit. */
static void load_split(struct dwarf_loader *loader, struct dwarf_splits *splits, Dwarf_CU *unit,
		       Dwarf_Die *skeleton)
{
	struct dwarf_split split;

	if (!dwarf_split_open(splits, unit, skeleton, &split))
		return;
	forget_places(loader);
	give_room(loader, split.info_bytes);
	loader->skeleton = skeleton;
	loader->is_gnu_c = is_gnu_c(&split.die);
	walk_entries(loader, &split.die, 0);
	loader->skeleton = NULL;
	forget_places(loader);
	dwarf_split_close(&split);
}

static void load_units(struct dwarf_loader *loader, struct dwarf_splits *splits, Dwarf *dwarf)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (!loader->oom && !loader->is_too_much &&
	       dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL) == 0) {
		loader->is_gnu_c = is_gnu_c(&die);
		if (type == DW_UT_compile)
			walk_entries(loader, &die, 0);
		if (type == DW_UT_skeleton)
			load_split(loader, splits, cu, &die);
	}
}

_Static_assert(offsetof(struct dwarf_func, addr) == 0, "ordered by order_u64()");

static void func_deinit(struct dwarf_func *func)
{
	free(func->params);
	free(func->inlined);
}

static void sort_funcs(struct dwarf_info *info)
{
	size_t kept = 0;

	if (info->nr_funcs)
		qsort(info->funcs, info->nr_funcs, sizeof(*info->funcs), order_u64);
	for (size_t i = 0; i < info->nr_funcs; i++) {
		if (kept && info->funcs[kept - 1].addr == info->funcs[i].addr)
			func_deinit(&info->funcs[i]);
		else
			info->funcs[kept++] = info->funcs[i];
	}
	info->nr_funcs = kept;
}

void dwarf_info_deinit(struct dwarf_info *info)
{
	for (size_t i = 0; i < info->nr_funcs; i++)
		func_deinit(&info->funcs[i]);
	for (size_t i = 0; i < info->nr_texts; i++)
		free(info->texts[i]);
	free(info->funcs);
	free(info->enums);
	free(info->structs);
	free(info->texts);
	*info = (struct dwarf_info){ 0 };
}

static int say_missing(const struct dwarf_splits *splits, const char *path, struct uft_err *err)
{
	const char *file = splits->missing ? splits->missing : "";
	char more[64] = "";

	if (splits->nr_missing > 1)
		snprintf(more, sizeof(more), " and %zu more file%s", splits->nr_missing - 1,
			 splits->nr_missing > 2 ? "s" : "");
	if (splits->is_too_much)
		return err_set(err, -ENODATA,
			       "the debug information of '%s' is left out from '%s' on%s: its "
			       "files are larger than %u times the program and %u MB",
			       path, file, more, SPLIT_READ_PER_BYTE, SPLIT_READ_MORE_MB);
	return err_set(err, -ENODATA,
		       "cannot find '%s'%s, with debug information of '%s': the arguments of the "
		       "functions in there are unknown. Keep such files where the compiler made "
		       "them or beside the program, or make '%s.dwp' of them (llvm-dwp)",
		       file, more, path, path);
}

/*
 * True when the file has debug information. Tools that strip debug information may leave a section
 * without bytes. Such a section does not count.
 */
static bool has_info(const struct elf_file *file, struct elf_section *sec)
{
	return elf_section_by_name(file, ".debug_info", sec) && sec->data;
}

int object_dwarf_load(const char *path, struct dwarf_info *info, struct uft_err *err)
{
	struct elf_file file cleanup_elf_file = ELF_FILE_CLOSED;
	struct elf_file debug cleanup_elf_file = ELF_FILE_CLOSED;
	struct elf_section sec;
	int ret = elf_file_open(&file, path, err);

	if (ret < 0)
		return ret;

	const struct elf_file *from = &file;

	if (!has_info(&file, &sec)) {
		if (!debug_file_open_or_fetch(&file, path, &debug) || !has_info(&debug, &sec))
			return 0;
		from = &debug;
	}

	uint64_t bytes = sec.data->d_size *
			 (sec.head.sh_flags & SHF_COMPRESSED ? COMPRESSED_MORE : 1);
	struct dwarf_loader loader = {
		.info = info,
		.base = file.base,
		.steps = STEPS_MORE,
		.text_bytes = TEXT_MORE,
	};
	struct dwarf_alt alt = DWARF_ALT_CLOSED;
	Dwarf *dwarf = dwarf_begin_elf(from->elf, DWARF_C_READ, NULL);

	if (!dwarf)
		return 0;

	struct dwarf_splits splits cleanup_dwarf_splits;

	dwarf_splits_init(&splits, from, path);
	give_room(&loader, bytes);
	if (dwarf_alt_open(&alt, dwarf))
		load_units(&loader, &splits, dwarf);
	dwarf_end(dwarf);
	dwarf_alt_close(&alt);
	strmap_deinit(&loader.enums);
	strmap_deinit(&loader.structs);
	strmap_deinit(&loader.boxed);
	forget_places(&loader);
	sort_funcs(info);
	if (loader.oom) {
		dwarf_info_deinit(info);
		return err_set_errno(err, -ENOMEM, "cannot read the debug information of '%s'",
				     path);
	}
	if (loader.is_too_much) {
		dwarf_info_deinit(info);
		return err_set(
			err, -E2BIG,
			"the debug information of '%s' refers to itself over and over: it is "
			"left out",
			path);
	}
	if (splits.nr_missing)
		return say_missing(&splits, path, err);
	return 0;
}

const struct dwarf_func *dwarf_info_find(const struct dwarf_info *info, uint64_t addr)
{
	struct dwarf_func key = { .addr = addr };

	if (!info->nr_funcs)
		return NULL;
	return bsearch(&key, info->funcs, info->nr_funcs, sizeof(key), order_u64);
}
