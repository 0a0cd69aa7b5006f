/* Patterns for names of functions: exact, regular expression or glob. */
#ifndef UTRAIL_SPEC_PATTERN_H
#define UTRAIL_SPEC_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"
#include "utils/spec/regex/regex.h"

/* The interpretation of a pattern, from --match (doc/facts/language.md, "Specifications"). */
enum pattern_match {
	MATCH_REGEX, /* POSIX extended, unanchored; a text without special characters is exact */
	MATCH_GLOB,  /* fnmatch(3) on the whole name; a text without special characters is exact */
	MATCH_SIMPLE,
};

/* "regex", "glob" or "simple", as in the key pattern_type of `info`. */
const char *pattern_match_name(enum pattern_match match);

/*
 * @text: on the heap
 * @match: MATCH_SIMPLE for a text without special characters, in all modes
 * @literal: a part of @text that every matching name has; @literal_len is 0 when none is known
 * @prefix_len: if @text begins with `^`: the number of characters after it that every matching name
 *              begins with
 * @is_scope: a plain text that ends with "::": it matches all names in that scope
 * @regex: the compiled expression; NULL: the pattern is no expression
 */
struct pattern {
	char *text;
	enum pattern_match match;
	size_t literal_at;
	size_t literal_len;
	size_t prefix_len;
	bool is_scope;
	struct regex *regex;
};

/*
 * Parse the @len bytes at @text into @p. -ERR_USAGE, with the reason, for a bad regular expression;
 * -ENOMEM. @p is empty after a failure.
 */
int pattern_init(struct pattern *p, enum pattern_match match, const char *text, size_t len,
		 struct uft_err *err);
/* Like pattern_init(), for a text that is always a regular expression. */
int pattern_init_regex(struct pattern *p, const char *text, size_t len, struct uft_err *err);

void pattern_deinit(struct pattern *p);
#define cleanup_pattern cleanup(pattern_deinit)

/*
 * True when @name matches. For most other names this costs one memory search; no name costs more
 * than its length times a constant.
 */
bool pattern_matches(const struct pattern *p, const char *name, size_t len);

#endif
