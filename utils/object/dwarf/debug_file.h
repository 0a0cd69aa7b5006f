/* Separate debug files, in which distributions keep the symbols that they strip from programs. */
#ifndef UTRAIL_OBJECT_DEBUG_FILE_H
#define UTRAIL_OBJECT_DEBUG_FILE_H

#include "utils/object/elf_file.h"

/*
 * Open the debug file of @file. Returns false when @file has no debug file (GDB manual, "Separate
 * Debug Files"). @path is the path of @file. A debug file is found
 *
 * - by its build-id, below /usr/lib/debug/.build-id
 * - by its name in .gnu_debuglink: in the directory of @path, in the subdirectory .debug of this
 *   directory, or below /usr/lib/debug. If both @file and the debug file have build-ids, the
 *   build-ids must be equal. Otherwise the CRC must match
 */
bool debug_file_open(const struct elf_file *file, const char *path, struct elf_file *debug);

/*
 * Like debug_file_open(), and also ask servers when this machine has no debug file
 * (debug_server.h). Callers use this function for arguments and source lines, but not for names.
 */
bool debug_file_open_or_fetch(const struct elf_file *file, const char *path,
			      struct elf_file *debug);

/*
 * Open a file with debug information for several programs. The file's build-id is the @bytes bytes
 * at @id. The function first searches for a file with this build-id, as debug_file_open() does. If
 * there is no such file, and @name is an absolute path, the function opens the file @name by
 * file_open_strange(), because @name comes from an untrusted file. Relative names are refused.
 */
bool debug_file_open_shared(const char *name, const uint8_t *id, size_t bytes,
			    struct elf_file *debug);

#endif
