/* The GNU build-id, which identifies the build of a file. */
#ifndef UTRAIL_OBJECT_BUILD_ID_H
#define UTRAIL_OBJECT_BUILD_ID_H

#include "utils/base/err.h"
#include "utils/object/elf_file.h"

/* Size of a build-id as hex text with its NUL: linkers make 20 bytes; longer ids are truncated. */
#define BUILD_ID_HEX_SIZE 41

/*
 * Read the build-id of the ELF file @path, in lowercase hex. A file without one has "", which is
 * not an error. 0 or negative errno when the file cannot be read (see elf_file_open()).
 */
int object_build_id(const char *path, char hex[static BUILD_ID_HEX_SIZE], struct uft_err *err);

/* Read the build-id of an open file. Cannot fail. */
void elf_build_id(const struct elf_file *file, char hex[static BUILD_ID_HEX_SIZE]);

#endif
