/* Options whose argument is the next word of the command line. */
#ifndef UTRAIL_BUILDDB_COMPILE_OPTIONS_H
#define UTRAIL_BUILDDB_COMPILE_OPTIONS_H

#include <stdbool.h>

#include "utils/builddb/compiler/compiler.h"

/*
 * True when the next word is the argument of the option @word. @word must have at least two
 * letters, and must not be an option of the linker, or -x, -l or -o.
 */
bool compile_option_has_word(enum compiler_kind kind, const char *word);

/* Like compile_option_has_word(), for options that only the linker uses. */
bool compile_linker_option_has_word(const char *word);

#endif
