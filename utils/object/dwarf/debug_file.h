/* Separate debug files: where distributions keep the symbols that were stripped from a file. */
#ifndef UTRAIL_OBJECT_DEBUG_FILE_H
#define UTRAIL_OBJECT_DEBUG_FILE_H

#include "utils/object/elf_file.h"

/*
 * Open the debug file that belongs to @file, whose name is @path: by build-id below
 * /usr/lib/debug/.build-id, or by its .gnu_debuglink beside it, in .debug/ and below /usr/lib/debug
 * (GDB manual, "Separate Debug Files"). Its build-id, or else its CRC, must be right.
 * False when there is none.
 */
bool debug_file_open(const struct elf_file *file, const char *path, struct elf_file *debug);

/*
 * The same; when it is nowhere here, servers are asked for it (debug_server.h). For arguments and
 * source lines, not for names.
 */
bool debug_file_open_or_fetch(const struct elf_file *file, const char *path,
			      struct elf_file *debug);

#endif
