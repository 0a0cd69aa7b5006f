/*
 * Split debug information (-gsplit-dwarf): the program has a skeleton of each unit. The rest is in
 * a separate file (.dwo), or in a package of such files (.dwp; DWARF 5 section 7.3). Private to
 * dwarf_info.c.
 */
#ifndef UTRAIL_OBJECT_DWARF_SPLIT_H
#define UTRAIL_OBJECT_DWARF_SPLIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/object/elf_file.h"

/*
 * The limit of bytes of the files that skeletons name: per byte of the module, plus a constant for
 * small modules.
 */
#define SPLIT_READ_PER_BYTE 16
#define SPLIT_READ_MORE_MB  64U

/*
 * The files named by one module's skeletons. Starts with dwarf_splits_init(), ends with
 * dwarf_splits_deinit().
 *
 * @from: the file that has the skeletons, borrowed; @path: path of the module, borrowed
 * @package: the .dwp file; NULL: there is no readable one. @has_looked: it was searched, which
 *           happens at the first skeleton
 * @bytes_left: bytes of such files, and of units in packages, that may still be read: a hostile
 *              program could name one large file in each of many skeletons
 * @nr_missing: number of units whose rest was not found; @missing: the file of the first such unit,
 *              on the heap; NULL: none, or memory is short; @is_too_much: that file exists, but
 *              exceeds @bytes_left
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
 * The rest of one unit, as if it were a file of its own with plain debug information.
 *
 * @die: the entry of the unit, which lives until dwarf_split_close()
 * @info_bytes: size of its section .debug_info
 * @file: the file that has the bytes, if it is not the package; @elf: made of pieces of that file
 *        and of the module; @names: names of its sections
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
 * Open the rest of @unit, whose first entry is @skeleton. This rest is searched where the compiler
 * wrote it, next to the module, and in the module's package. False when it was not found, which
 * @splits counts.
 */
bool dwarf_split_open(struct dwarf_splits *splits, Dwarf_CU *unit, Dwarf_Die *skeleton,
		      struct dwarf_split *split);
void dwarf_split_close(struct dwarf_split *split);

#endif
