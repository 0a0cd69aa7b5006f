/* The command lines of as, nasm and yasm (see compile.h, which takes them from here). */
#ifndef UTRAIL_BUILDDB_COMPILE_ASSEMBLER_H
#define UTRAIL_BUILDDB_COMPILE_ASSEMBLER_H

#include "utils/builddb/compiler/compile.h"

/*
 * Find sources and the output of @argv: fills @compile, whose roles are there and say "option" for
 * each word. Sources have any name. Commands that only preprocess or answer have none.
 */
void compile_parse_assembler(struct compile *compile, const struct words *argv);

/* Append to @out the name of the file that is written for @source where the command has no -o. */
void compile_assembler_output(const struct compile *compile, const char *source,
			      struct strbuf *out);

#endif
