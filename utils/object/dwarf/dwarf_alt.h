/*
 * Debug information that several programs share. dwz(1) moves such information into a separate
 * file. The section .gnu_debugaltlink of a program contains the name of this file. libdw would open
 * any file with this name, and would wait if the file is a FIFO. So the functions below open the
 * file themselves.
 */
#ifndef UTRAIL_OBJECT_DWARF_ALT_H
#define UTRAIL_OBJECT_DWARF_ALT_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "utils/object/elf_file.h"

/*
 * The shared file of one program. The struct starts as DWARF_ALT_CLOSED and ends with
 * dwarf_alt_close().
 *
 * @file: the shared file; not open when the program names no shared file, or when
 *        debug_file_open_shared() has failed
 * @elf, @dwarf: the debug information of the file, or empty debug information
 */
struct dwarf_alt {
	struct elf_file file;
	Elf *elf;
	Dwarf *dwarf;
};

#define DWARF_ALT_CLOSED                 \
	{                                \
		.file = ELF_FILE_CLOSED, \
	}

/*
 * If the program of @dwarf names a shared file, open this file and set it as the alternate file of
 * @dwarf (dwarf_setalt()). The caller must not read from @dwarf before this call, and must end
 * @dwarf before dwarf_alt_close(). If debug_file_open_shared() fails, @dwarf gets an empty
 * alternate file, and references to the shared file lead nowhere. Returns false when memory is
 * short.
 */
bool dwarf_alt_open(struct dwarf_alt *alt, Dwarf *dwarf);
void dwarf_alt_close(struct dwarf_alt *alt);

#endif
