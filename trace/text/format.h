/* A format of declared events, parsed once into its pieces. */
#ifndef UTRAIL_FSTRACE_FORMAT_H
#define UTRAIL_FSTRACE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "text/directive.h"

/*
 * @next: for callers that keep several formats in a list
 * @has_calls: it calls functions of the program (%I, %J)
 * @values: the kinds (enum fst_kind) of the pieces that take a value, in their order, then a 0
 * @is_plain: all values are arguments, or facts about the record's place, which need no function
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

/* NULL when @text is no format, or without memory. */
struct fst_format *fst_format_make(const char *text);
void fst_format_free(struct fst_format *format);

/* True when @format has only directives without arguments. */
bool fst_format_is_bare(const struct fst_format *format);

#endif
