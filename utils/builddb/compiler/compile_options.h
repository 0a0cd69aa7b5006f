/* Options of compilers whose argument is the next word of the command line. */
#ifndef UTRAIL_BUILDDB_COMPILE_OPTIONS_H
#define UTRAIL_BUILDDB_COMPILE_OPTIONS_H

#include <stdbool.h>

#include "utils/builddb/compiler/compiler.h"

/*
 * @word: an option, at least two letters. Options of the linker, languages, libraries and outputs
 * (-x, -l, -o) are not meant.
 */
bool compile_option_has_word(enum compiler_kind kind, const char *word);

/* The same of options that mean something for the linker alone. */
bool compile_linker_option_has_word(const char *word);

#endif
