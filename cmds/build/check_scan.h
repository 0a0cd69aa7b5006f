/* Tokens of preprocessed C and C++. */
#ifndef UTRAIL_CMDS_CHECK_SCAN_H
#define UTRAIL_CMDS_CHECK_SCAN_H

#include <stdbool.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/text.h"

/* A word (name or number), a literal, or one other byte. */
enum check_kind {
	CHECK_WORD,
	CHECK_LITERAL,
	CHECK_BYTE,
};

/*
 * @left: the text after the last token; @start: the place of the token
 * @line, @file: of the last token, as line markers say; @file stands as it is there, without its
 *               quotes
 */
struct check_scan {
	struct text left;
	const char *start;
	enum check_kind kind;
	unsigned line;
	struct text file;
};

struct check_scan check_scan_of(const struct strbuf *text);

/* The next token. False at the end. */
bool check_scan_next(struct check_scan *scan);

/* Is the token this word, or this byte? */
bool check_scan_is(const struct check_scan *scan, const char *token);

/*
 * An argument of a call whose bracket is open, up to the ',' or ')' that is the token then; ','
 * ends nothing when @takes_all. Line markers are left out, and each run of blanks is one. False:
 * the text ends before.
 */
bool check_scan_argument(struct check_scan *scan, bool takes_all, struct strbuf *out);

#endif
