/* Tokens of preprocessed C and C++. */
#ifndef UTRAIL_CMDS_CHECK_SCAN_H
#define UTRAIL_CMDS_CHECK_SCAN_H

#include <stdbool.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/text.h"

/* Kinds of tokens: a word (a name or a number), a literal, or a single byte, such as '('. */
enum check_kind {
	CHECK_WORD,
	CHECK_LITERAL,
	CHECK_BYTE,
};

/*
 * @left: the text after the current token
 * @start: the place of the current token
 * @line: the line of the current token in the source file @file
 * @file: the name of the source file, without quotes. The name comes from the latest line marker
 *        (`# 12 "file.c"`). Before the first line marker, the name is empty
 */
struct check_scan {
	struct text left;
	const char *start;
	enum check_kind kind;
	unsigned line;
	struct text file;
};

struct check_scan check_scan_of(const struct strbuf *text);

/* Read the next token. Returns false at the end of the text. */
bool check_scan_next(struct check_scan *scan);

/* True when the current token is the word or byte @token. */
bool check_scan_is(const struct check_scan *scan, const char *token);

/*
 * Read an argument of a call. The ',' or ')' after the argument becomes the current token. Line
 * markers are left out; each run of blanks becomes one blank. Returns false when the text ends
 * before the end of the argument.
 *
 * @takes_all: a ',' does not end the argument
 */
bool check_scan_argument(struct check_scan *scan, bool takes_all, struct strbuf *out);

#endif
