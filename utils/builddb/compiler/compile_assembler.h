/* The command lines of as, nasm and yasm (see compile.h, which takes them from here). */
#ifndef UTRAIL_BUILDDB_COMPILE_ASSEMBLER_H
#define UTRAIL_BUILDDB_COMPILE_ASSEMBLER_H

#include "utils/builddb/compiler/compile.h"

/*
 * Find sources and the output of @argv, and fill @compile, in which each word has the role "option"
 * at first. Any name may be a source. Commands that only preprocess or ask for information have no
 * sources.
 */
void compile_parse_assembler(struct compile *compile, const struct words *argv);

/* Append the default output file of @source, for a command without -o, to @out. */
void compile_assembler_output(const struct compile *compile, const char *source,
			      struct strbuf *out);

#endif
