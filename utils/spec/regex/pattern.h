/* Patterns for names of functions: exact texts, regular expressions and globs. */
#ifndef UTRAIL_SPEC_PATTERN_H
#define UTRAIL_SPEC_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/cleanup.h"
#include "utils/base/err.h"
#include "utils/spec/regex/regex.h"

/* The kinds of patterns that --match can choose (doc/facts/language.md, "Specifications"). */
enum pattern_match {
	MATCH_REGEX,  /* POSIX extended, matches a part of the name */
	MATCH_GLOB,   /* fnmatch(3), matches the whole name */
	MATCH_SIMPLE, /* equal to the name */
};

/* Returns "regex", "glob" or "simple", as in the key pattern_type of `info`. */
const char *pattern_match_name(enum pattern_match match);

/*
 * @text: on the heap
 * @match: pattern_init() sets MATCH_SIMPLE if @text has no special characters or begins with
 *         "operator ", even if --match asks for a regular expression or a glob
 * @literal_at, @literal_len: a part of @text that every matching name contains; @literal_len is 0
 *         when none is known
 * @prefix_len: if @text begins with `^`: every matching name begins with the @prefix_len characters
 *         that follow the `^`
 * @is_scope: @match is MATCH_SIMPLE, and @text ends with "::". Every name that begins with @text
 *         matches
 * @regex: the compiled expression, if @match is MATCH_REGEX
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
 * Parse the @len bytes at @text. Returns 0, -ENOMEM, or -ERR_USAGE for a bad pattern. After a
 * failure, @err has the reason, and @p is empty.
 */
int pattern_init(struct pattern *p, enum pattern_match match, const char *text, size_t len,
		 struct uft_err *err);
/* Like pattern_init(), but @text is a regular expression even if it has no special characters. */
int pattern_init_regex(struct pattern *p, const char *text, size_t len, struct uft_err *err);

void pattern_deinit(struct pattern *p);
#define cleanup_pattern cleanup(pattern_deinit)

/*
 * True when @name matches. @name has @len bytes, and then a NUL. For a regular expression, a search
 * for a literal part of the pattern rejects most names that do not match. The time for a name grows
 * at most linearly with its length.
 */
bool pattern_matches(const struct pattern *p, const char *name, size_t len);

/*
 * True when pattern_matches() is true for @name, or for one of the names in @others. Each name in
 * @others ends with a NUL, and an empty name follows the last one. @others may be NULL.
 */
bool pattern_matches_any(const struct pattern *p, const char *name, size_t len, const char *others);

#endif
