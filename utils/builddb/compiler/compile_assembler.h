/* The command lines of as, nasm and yasm (see compile.h, which takes them from here). */
#ifndef UTRAIL_BUILDDB_COMPILE_ASSEMBLER_H
#define UTRAIL_BUILDDB_COMPILE_ASSEMBLER_H

#include "utils/builddb/compiler/compile.h"

/*
 * Find sources and the output of @argv: fills @compile, with the role "option" for each word.
 * Sources have any name. Commands that only preprocess or query have none.
 */
void compile_parse_assembler(struct compile *compile, const struct words *argv);

/* Append the default output file of @source, for a command without -o, to @out. */
void compile_assembler_output(const struct compile *compile, const char *source,
			      struct strbuf *out);

#endif
