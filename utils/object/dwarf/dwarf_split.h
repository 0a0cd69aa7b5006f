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
 * The limit for reading split units and their files, in bytes: this number for each byte of the
 * module, plus a constant, which small modules need.
 */
#define SPLIT_READ_PER_BYTE 16
#define SPLIT_READ_MORE_MB  64U

/*
 * The files to which the skeletons of a module refer by name. dwarf_splits_init() fills in the
 * struct. dwarf_splits_deinit() frees the memory that the struct owns.
 *
 * @from, @path: the file that has the skeletons, and the path of the module; borrowed
 * @package: the .dwp file; NULL: no readable .dwp file was found
 * @has_looked: the first skeleton has started the search for the .dwp file
 * @bytes_left: the bytes of split units and their files that may still be read. There is a limit,
 *         because all skeletons of a hostile program may name one large file
 * @nr_missing: number of units that were not found
 * @missing: file of the first missing unit, on the heap; NULL: none, or memory is short
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
 * One split unit, as if it were a file of its own with plain debug information.
 *
 * @die: the entry of the unit; lives until dwarf_split_close()
 * @info_bytes: size of its section .debug_info
 * @file: the file of the unit; not open if the package has the unit
 * @names: the names of the sections of @elf
 * @elf: an ELF file in memory, made of the sections of the unit and of sections of the module
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
 * another directory. Returns false when the split unit was not found. Such a unit is counted in
 * @splits if @skeleton names its file.
 */
bool dwarf_split_open(struct dwarf_splits *splits, Dwarf_CU *unit, Dwarf_Die *skeleton,
		      struct dwarf_split *split);
void dwarf_split_close(struct dwarf_split *split);

#endif
