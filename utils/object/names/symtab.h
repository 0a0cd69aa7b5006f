/* Loads the symbols of a module from all sections and files that may contain symbols. */
#ifndef UTRAIL_OBJECT_SYMTAB_H
#define UTRAIL_OBJECT_SYMTAB_H

#include "utils/base/err.h"
#include "utils/format/sym.h"

/*
 * Load the symbols of all code and data of the ELF file @path into the empty @out, sorted
 * (doc/formats/symbols.md). Addresses are relative to the file's map start. Returns 0, also for a
 * file without symbols; -ENOMEM; -EFBIG when names are too long (elf_has_too_long_names()); or
 * errors of elf_file_open(). @out is empty after a failure.
 *
 * The symbols come from the first source that has any: .symtab, the separate debug file, or
 * .gnu_debugdata. If the symbols do not come from .symtab, the symbols of .dynsym are added. PLT
 * entries are always added.
 */
int object_symtab_load(const char *path, struct symtab *out, struct uft_err *err);

/*
 * Like object_symtab_load(), but only if the build-id of the file is @build_id. The caller must not
 * pass an empty @build_id. Returns 1 on success. Returns 0 with an empty @out when the file has
 * another build-id, or cannot be loaded. Returns -ENOMEM when memory is short.
 */
int object_symtab_load_same(const char *path, const char *build_id, struct symtab *out,
			    struct uft_err *err);

#endif
