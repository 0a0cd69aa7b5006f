/*
 * Split debug information (-gsplit-dwarf), private to dwarf_info.c. The program has a skeleton of
 * each unit. A file (.dwo) or a package of files (.dwp; DWARF 5, 7.3) has the unit.
 */
#ifndef UTRAIL_OBJECT_DWARF_SPLIT_H
#define UTRAIL_OBJECT_DWARF_SPLIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/object/elf_file.h"

/*
 * The maximum number of bytes to read from split units and their files is SPLIT_READ_PER_BYTE times
 * the size of dwarf_splits.from, plus SPLIT_READ_MORE_MB MiB. Without the added MiB, the maximum
 * could be too low for a small module.
 */
#define SPLIT_READ_PER_BYTE 16
#define SPLIT_READ_MORE_MB  64U

/*
 * The files to which the skeletons of a module refer by name. dwarf_splits_init() fills in the
 * struct. dwarf_splits_deinit() frees the memory that the struct owns.
 *
 * @from, @path: the file that has the skeletons, and the path of the module; borrowed
 * @package: the .dwp file; NULL: no readable .dwp file was found
 * @has_looked: dwarf_split_open() has looked for the .dwp file. The search happens once, at the
 *              first skeleton that has a file name (DW_AT_dwo_name or DW_AT_GNU_dwo_name)
 * @bytes_left: the number of bytes that may still be read, from split units and from their files.
 *              The number is limited, because all skeletons of a hostile program may name one large
 *              file
 * @nr_missing: the number of split units that were not found
 * @missing: the name of the first missing unit's file, on the heap; NULL: no unit is missing, or
 *           memory is short
 * @is_too_much: the file @missing exists, but exceeds @bytes_left
 */
struct dwarf_splits {
	const struct elf_file *from;
	const char *path;
	struct dwarf_package *package;
	bool has_looked;
	uint64_t bytes_left;
	size_t nr_missing;
	char *missing;
	bool is_too_much;
};

void dwarf_splits_init(struct dwarf_splits *splits, const struct elf_file *from, const char *path);
void dwarf_splits_deinit(struct dwarf_splits *splits);
#define cleanup_dwarf_splits cleanup(dwarf_splits_deinit)

/*
 * One split unit. @elf makes the unit readable like a file with plain debug information.
 *
 * @die: the entry of the unit; lives until dwarf_split_close()
 * @info_bytes: the size of the unit's section .debug_info, in bytes
 * @file: the file of the unit; not open if the package has the unit
 * @elf: an ELF file in memory, with the sections of the unit and some sections of the module
 * @names: the names of the sections of @elf
 */
struct dwarf_split {
	struct elf_file file;
	char names[256];
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_Die die;
	uint64_t info_bytes;
};

/*
 * Open the split unit that belongs to @unit. @skeleton is the first entry of @unit. The split unit
 * may be in one of three places: in the module's package, in the compiler's directory, or next to
 * the module. A relative name of the compiler's directory is ignored, because the reader runs in
 * another directory.
 *
 * Returns false when the split unit was not found. In this case, adds 1 to splits->nr_missing if
 * @skeleton names a file for the split unit.
 */
bool dwarf_split_open(struct dwarf_splits *splits, Dwarf_CU *unit, Dwarf_Die *skeleton,
		      struct dwarf_split *split);
void dwarf_split_close(struct dwarf_split *split);

#endif
