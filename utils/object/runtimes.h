/* Languages whose calls are not like those of C, and the marks of their compilers in a file. */
#ifndef UTRAIL_OBJECT_RUNTIMES_H
#define UTRAIL_OBJECT_RUNTIMES_H

#include "utils/object/elf_file.h"

/*
 * Returns the reason why functions of @file must not be redirected, as a static string, or NULL if
 * there is none. Go, OCaml and Haskell (GHC) have their own stacks or calls. Stripped files are
 * recognised, too.
 */
const char *object_foreign_runtime(const struct elf_file *file);

#endif
