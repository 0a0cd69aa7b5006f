/* Separate debug files: the place of a file's stripped symbols in distributions. */
#ifndef UTRAIL_OBJECT_DEBUG_FILE_H
#define UTRAIL_OBJECT_DEBUG_FILE_H

#include "utils/object/elf_file.h"

/*
 * Open the debug file that belongs to @file, whose name is @path: by build-id below
 * /usr/lib/debug/.build-id, or by its .gnu_debuglink beside it, in .debug/ and below /usr/lib/debug
 * (GDB manual, "Separate Debug Files"). The build-id of the debug file, or else its CRC, must
 * match. False when there is none.
 */
bool debug_file_open(const struct elf_file *file, const char *path, struct elf_file *debug);

/*
 * Like debug_file_open(), but servers are asked when this machine has no debug file
 * (debug_server.h). For arguments and source lines, not for names.
 */
bool debug_file_open_or_fetch(const struct elf_file *file, const char *path,
			      struct elf_file *debug);

#endif
