/* Parses command lines of assemblers (nasm, yasm, as). Only compile.c calls these functions. */
#ifndef UTRAIL_BUILDDB_COMPILE_ASSEMBLER_H
#define UTRAIL_BUILDDB_COMPILE_ASSEMBLER_H

#include "utils/builddb/compiler/compile.h"

/*
 * Find the sources and the output in @argv. A source may have any name. Before the call, all words
 * in @compile must have the role "option". For a command that only preprocesses or asks for
 * information, @compile->until becomes COMPILE_PREPROCESSED.
 */
void compile_parse_assembler(struct compile *compile, const struct words *argv);

/*
 * For a command without -o: append to @out the name of the file that the assembler makes from
 * @source.
 */
void compile_assembler_output(const struct compile *compile, const char *source,
			      struct strbuf *out);

#endif
