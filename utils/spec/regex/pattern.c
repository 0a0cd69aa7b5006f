/* Patterns for names of functions (see pattern.h). */
#include "utils/spec/regex/pattern.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define SPECIAL ".?*+-^$|()[]{}"

/* The longest glob, in bytes: fnmatch(3) recurses for each `*`. */
#define GLOB_MAX 4096U

const char *pattern_match_name(enum pattern_match match)
{
	static const char *const names[] = {
		[MATCH_REGEX] = "regex",
		[MATCH_GLOB] = "glob",
		[MATCH_SIMPLE] = "simple",
	};

	return names[match];
}

static bool is_plain(const char *text)
{
	return strpbrk(text, SPECIAL) == NULL || strncmp(text, "operator ", 9) == 0;
}

/*
 * True when operators at @next may make the character before them optional, as in "a?" or "a+?".
 * ("a+?" means "(a+)?".) Every "{" counts as such an operator, because the numbers in an interval
 * such as "{0,2}" are not read.
 */
static bool is_optional(const char *next)
{
	next += strspn(next, "+");
	return *next == '?' || *next == '*' || *next == '{';
}

/*
 * Find the longest sequence of ordinary characters that every match contains, for a fast first
 * search of names. Finds no sequence if the pattern has alternatives, groups, escapes or named
 * classes.
 */
static void find_literal(struct pattern *p)
{
	const char *text = p->text;
	size_t start = text[0] == '^';

	if (strpbrk(text, "|(\\") || strstr(text, "[:") || strstr(text, "[.") || strstr(text, "[="))
		return;
	for (size_t at = start; text[at];) {
		/*
		 * SPECIAL contains `-`, although `-` is an ordinary character here. The search
		 * therefore ends a sequence of ordinary characters at each `-`, and may find a
		 * shorter sequence than possible.
		 */
		size_t len = strcspn(text + at, SPECIAL);
		size_t next = at + len;

		if (len && is_optional(text + next))
			len--;
		if (len > p->literal_len) {
			p->literal_at = at;
			p->literal_len = len;
		}
		if (start == 1 && at == 1)
			p->prefix_len = len;
		if (!text[next])
			break;
		if (text[next] == '[') {
			const char *end = strchr(text + next + 1 + (text[next + 1] == '^') + 1,
						 ']');

			if (!end)
				break;
			next = end - text;
		} else if (text[next] == '{') {
			const char *end = strchr(text + next, '}');

			if (!end)
				break;
			next = end - text;
		}
		at = next + 1;
	}
}

static int compile(struct pattern *p, struct uft_err *err)
{
	struct uft_err why = { 0 };

	p->regex = regex_create(p->text, &why);
	if (p->regex) {
		find_literal(p);
		return 0;
	}
	if (why.code == -ENOMEM)
		return err_set_errno(err, -ENOMEM, "cannot compile '%s'", p->text);
	return err_set(err, -ERR_USAGE, "'%s' is not a regular expression: %s", p->text, why.text);
}

static int init(struct pattern *p, const char *text, size_t len, bool can_be_plain,
		struct uft_err *err)
{
	p->text = strndup(text, len);
	if (!p->text)
		return err_set_errno(err, -ENOMEM, "cannot read a pattern");
	if (can_be_plain && is_plain(p->text))
		p->match = MATCH_SIMPLE;

	/* No name of a function ends with "::", so the user means a scope. */
	p->is_scope = p->match == MATCH_SIMPLE && strlen(p->text) > 2 &&
		      strcmp(p->text + strlen(p->text) - 2, "::") == 0;

	int ret = p->match == MATCH_REGEX ? compile(p, err) : 0;

	if (p->match == MATCH_GLOB && strlen(p->text) > GLOB_MAX)
		ret = err_set(err, -ERR_USAGE, "pattern '%.32s...' is too long: expected %u bytes",
			      p->text, GLOB_MAX);

	if (ret < 0)
		pattern_deinit(p);
	return ret;
}

int pattern_init(struct pattern *p, enum pattern_match match, const char *text, size_t len,
		 struct uft_err *err)
{
	*p = (struct pattern){ .match = match };
	return init(p, text, len, true, err);
}

int pattern_init_regex(struct pattern *p, const char *text, size_t len, struct uft_err *err)
{
	*p = (struct pattern){ .match = MATCH_REGEX };
	return init(p, text, len, false, err);
}

void pattern_deinit(struct pattern *p)
{
	regex_destroy(p->regex);
	free(p->text);
	*p = (struct pattern){ 0 };
}

static bool has_literal(const struct pattern *p, const char *name, size_t len)
{
	if (p->literal_len > len)
		return false;
	/*
	 * Compare the beginning first. This is fast, and rejects most names that do not match.
	 */
	if (p->prefix_len && (p->prefix_len > len || memcmp(name, p->text + 1, p->prefix_len) != 0))
		return false;
	if (p->prefix_len && p->literal_at == 1)
		return true;
	return memmem(name, len, p->text + p->literal_at, p->literal_len) != NULL;
}

bool pattern_matches(const struct pattern *p, const char *name, size_t len)
{
	switch (p->match) {
	case MATCH_SIMPLE:
		return p->is_scope ? strncmp(p->text, name, strlen(p->text)) == 0
				   : strcmp(p->text, name) == 0;
	case MATCH_GLOB:
		return fnmatch(p->text, name, 0) == 0;
	case MATCH_REGEX:
		break;
	}
	return has_literal(p, name, len) && regex_finds(p->regex, name, len);
}

bool pattern_matches_any(const struct pattern *p, const char *name, size_t len, const char *others)
{
	if (pattern_matches(p, name, len))
		return true;
	for (; others && *others; others += strlen(others) + 1) {
		if (pattern_matches(p, others, strlen(others)))
			return true;
	}
	return false;
}
