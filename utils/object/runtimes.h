/*
 * Recognises files that are written in Go, OCaml or Haskell. Calls of these languages are not like
 * calls of C. The compilers of these languages leave marks in a file.
 */
#ifndef UTRAIL_OBJECT_RUNTIMES_H
#define UTRAIL_OBJECT_RUNTIMES_H

#include "utils/object/elf_file.h"

/*
 * Returns a static text with the reason why functions of @file must not be redirected, or NULL if
 * there is no reason. Go, OCaml and Haskell (GHC) have their own stacks or calling conventions. A
 * file of these languages is recognised even if the file is stripped.
 */
const char *object_foreign_runtime(const struct elf_file *file);

#endif
