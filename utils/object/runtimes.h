/*
 * Languages whose functions are not called like those of C: the traces of their compilers in a
 * file.
 */
#ifndef UTRAIL_OBJECT_RUNTIMES_H
#define UTRAIL_OBJECT_RUNTIMES_H

#include "utils/object/elf_file.h"

/*
 * Why no function of @file may be led anywhere else: it is written in a language with stacks or
 * calls of its own (Go, OCaml, Haskell by GHC). Stripped files are recognised, too. NULL: it is
 * not. The text lives for ever.
 */
const char *object_foreign_runtime(const struct elf_file *file);

#endif
