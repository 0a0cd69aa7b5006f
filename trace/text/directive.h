/* Parses formats of declared events: text and directives ("%64u"). No allocation, no state. */
#ifndef UTRAIL_FSTRACE_DIRECTIVE_H
#define UTRAIL_FSTRACE_DIRECTIVE_H

#include <stdbool.h>
#include <stddef.h>

enum fst_kind {
	FST_LITERAL,	/* text that is copied unchanged, or the "%" of "%%" */
	FST_INT,	/* %d */
	FST_UNSIGNED,	/* %u */
	FST_HEX,	/* %x */
	FST_INT64,	/* %64d */
	FST_UNSIGNED64, /* %64u */
	FST_HEX64,	/* %64x */
	FST_LLONG,	/* %lld */
	FST_ULLONG,	/* %llu */
	FST_HEX_LLONG,	/* %llx */
	FST_SIZE,	/* %z */
	FST_DOUBLE,	/* %f */
	FST_BOOL,	/* %b */
	FST_STRING,	/* %s */
	FST_STRING_MAX, /* %S: a string with a limit */
	FST_CALL,	/* %I: a string that a function returns */
	FST_CALL_LIST,	/* %J: strings that a function returns one by one */
	FST_OCTETS,	/* %A */
	FST_HEX_OCTETS, /* %B */
	FST_PID,	/* %P */
	FST_THREAD,	/* %T */
	FST_FILE,	/* %F */
	FST_LINE,	/* %L */
	FST_ERRNO,	/* %e */
	FST_ERRNO_ARG,	/* %E */
	FST_POINTER,	/* %p */
	FST_ADDRESS,	/* %a: struct sockaddr */
};

struct fst_piece {
	enum fst_kind kind;
	const char *text; /* a part of the format; for "%%", the second '%' */
	size_t len;
};

/*
 * Parse the next piece of the format at *@at, and move *@at past this piece. Returns 1 on success,
 * 0 at the end of the format, or -1 if the '%' at *@at does not begin a directive. In the last case
 * *@at does not change.
 */
int fst_next_piece(const char **at, struct fst_piece *piece);

/* Returns the number of pieces of a format, or -1 if the format is invalid. */
int fst_count_pieces(const char *format);

/*
 * True when the directive takes no argument. In the format for fstrace_set_common_format(3), all
 * directives must be of this kind.
 */
bool fst_kind_is_bare(enum fst_kind kind);

#endif
