/* A format string for the texts of declared events, parsed into pieces. */
#ifndef UTRAIL_FSTRACE_FORMAT_H
#define UTRAIL_FSTRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "text/directive.h"

/*
 * @next: for callers that keep several formats in a list
 * @has_calls: the format has directives that call functions of the program (%I, %J)
 * @values: the kinds (enum fst_kind) of the pieces that take a value, in the order of the pieces. A
 *          0 ends the list
 * @is_plain: the format has no directives that call functions, and no directives for the process or
 *            the thread (%P, %T)
 */
struct fst_format {
	struct fst_format *next;
	char *text;
	bool has_calls;
	bool is_plain;
	unsigned char *values;
	size_t nr_pieces;
	struct fst_piece pieces[];
};

/* Returns NULL if @text is not a valid format, or if there is no memory. */
struct fst_format *fst_format_make(const char *text);
void fst_format_free(struct fst_format *format);

/* True when @format has only directives without arguments. */
bool fst_format_is_bare(const struct fst_format *format);

#endif
