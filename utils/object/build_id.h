/* The GNU build-id, which identifies the build of a file. */
#ifndef UTRAIL_OBJECT_BUILD_ID_H
#define UTRAIL_OBJECT_BUILD_ID_H

#include "utils/base/err.h"
#include "utils/object/elf_file.h"

/*
 * Room for a build-id as hexadecimal text with its NUL. Linkers write 8 to 20 bytes; longer ids,
 * which users can choose, are cut.
 */
#define BUILD_ID_HEX_SIZE 41

/*
 * Read the build-id of the ELF file @path, in lowercase hexadecimal digits. A file without a
 * build-id is not an error: @hex becomes "". Returns 0, or an error of elf_file_open().
 */
int object_build_id(const char *path, char hex[static BUILD_ID_HEX_SIZE], struct uft_err *err);

/* Like object_build_id(), for an open file. */
void elf_build_id(const struct elf_file *file, char hex[static BUILD_ID_HEX_SIZE]);

#endif
