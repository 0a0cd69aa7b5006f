/* Patterns for names of functions (see pattern.h). */
#include "utils/spec/pattern.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SPECIAL ".?*+-^$|()[]{}"

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

/* Whether the character in front of @at, and so the one at @at, may be absent. */
static bool is_optional(char next)
{
	return next == '?' || next == '*' || next == '{';
}

/*
 * Find the longest run of ordinary characters that every match must contain: looking for it spares most names the
 * regular expression. Alternatives and groups have none for sure.
 */
static void find_literal(struct pattern *p)
{
	const char *text = p->text;
	size_t start = text[0] == '^';

	if (strpbrk(text, "|(\\") || strstr(text, "[:") || strstr(text, "[.") || strstr(text, "[="))
		return;
	for (size_t at = start; text[at];) {
		size_t len = strcspn(text + at, SPECIAL);
		size_t next = at + len;

		/* `-` is special only inside of brackets, which are stepped over below. */
		if (len && is_optional(text[next]))
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

/*
 * regcomp(3) makes copies of what is repeated, so that "a++++..." or "((a{99}){99}){99}" takes all memory there is; and
 * patterns come from recordings, too. The number of copies, about; and of those that repetitions alone make, whose time grows
 * with the square: a third of a second for a thousand. It grows faster yet with repetitions of repetitions ("a?*?+").
 */
#define COPIES_MAX   100000U
#define REPEATED_MAX 1000U
#define NESTING_MAX  32
#define STACKED_MAX  6

struct copies {
	uint64_t sums[NESTING_MAX + 1]; /* by group that is open */
	unsigned depth;
	uint64_t last; /* of what a repetition would be about */
	uint64_t repeated;
	/* Repetitions of each other: about the last atom, and the most within each group that is open. */
	unsigned stacked;
	unsigned most_stacked[NESTING_MAX + 1];
};

static void add_atom(struct copies *c, uint64_t copies)
{
	c->last = copies;
	c->sums[c->depth] += copies;
	c->stacked = 0;
}

static void repeat_atom(struct copies *c, uint64_t times)
{
	uint64_t more = c->last * (times > 1 ? times - 1 : 0);

	c->last += more;
	c->sums[c->depth] += more;
	c->repeated += more;
	c->stacked++;
	c->most_stacked[c->depth] = MAX(c->most_stacked[c->depth], c->stacked);
}

static void open_group(struct copies *c)
{
	c->depth++;
	c->sums[c->depth] = 0;
	c->most_stacked[c->depth] = 0;
}

/* It is an atom of the group around it, as deep in repetitions as what it holds. */
static void close_group(struct copies *c)
{
	unsigned stacked = c->most_stacked[c->depth];
	uint64_t copies = c->sums[c->depth];

	if (c->depth == 0)
		return;
	c->depth--;
	add_atom(c, copies + 1);
	c->stacked = stacked;
	c->most_stacked[c->depth] = MAX(c->most_stacked[c->depth], stacked);
}

static bool has_too_many(const struct copies *c)
{
	return c->depth > NESTING_MAX - 1 || c->sums[c->depth] > COPIES_MAX ||
	       c->repeated > REPEATED_MAX || c->stacked > STACKED_MAX;
}

/* "{m,n}" at @at; where it ends. */
static const char *count_interval(struct copies *c, const char *at)
{
	char *end;
	uint64_t low = MIN(strtoull(at + 1, &end, 10), (unsigned long long)COPIES_MAX);
	uint64_t high = low;

	if (*end == ',')
		high = MAX(low + 1,
			   MIN(strtoull(end + 1, &end, 10), (unsigned long long)COPIES_MAX));
	repeat_atom(c, high);
	return *end == '}' ? end : at;
}

/* A bracket expression at @at; its last character. */
static const char *skip_bracket(const char *at)
{
	const char *end = at + 1 + (at[1] == '^');
	const char *close = *end ? strchr(end + 1, ']') : NULL;

	return close ? close : at;
}

static bool is_too_large(const char *text)
{
	struct copies c = { 0 };

	for (const char *at = text; *at; at++) {
		switch (*at) {
		case '(':
			open_group(&c);
			break;
		case ')':
			close_group(&c);
			break;
		case '+':
			repeat_atom(&c, 2);
			break;
		case '*':
		case '?':
			repeat_atom(&c, 1);
			break;
		case '|':
			break;
		case '{':
			at = count_interval(&c, at);
			break;
		case '[':
			add_atom(&c, 1);
			at = skip_bracket(at);
			break;
		case '\\':
			add_atom(&c, 1);
			at += at[1] != '\0';
			break;
		default:
			add_atom(&c, 1);
			break;
		}
		if (has_too_many(&c))
			return true;
	}
	return false;
}

static int compile(struct pattern *p, struct uft_err *err)
{
	if (is_too_large(p->text))
		return err_set(err, -ERR_USAGE, "pattern '%s': it repeats too much", p->text);

	int code = regcomp(&p->regex, p->text, REG_EXTENDED | REG_NOSUB);
	char why[128];

	if (code == 0) {
		p->has_regex = true;
		find_literal(p);
		return 0;
	}
	regerror(code, &p->regex, why, sizeof(why));
	if (code == REG_ESPACE)
		return err_set_errno(err, -ENOMEM, "cannot compile '%s'", p->text);
	return err_set(err, -ERR_USAGE, "'%s' is not a regular expression: %s", p->text, why);
}

static int init(struct pattern *p, const char *text, size_t len, bool can_be_plain,
		struct uft_err *err)
{
	p->text = strndup(text, len);
	if (!p->text)
		return err_set_errno(err, -ENOMEM, "cannot read a pattern");
	if (can_be_plain && is_plain(p->text))
		p->match = MATCH_SIMPLE;

	/* No function has such a name, so it can only be meant like that. */
	p->is_scope = p->match == MATCH_SIMPLE && strlen(p->text) > 2 &&
		      strcmp(p->text + strlen(p->text) - 2, "::") == 0;

	int ret = p->match == MATCH_REGEX ? compile(p, err) : 0;

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
	if (p->has_regex)
		regfree(&p->regex);
	free(p->text);
	*p = (struct pattern){ 0 };
}

static bool has_literal(const struct pattern *p, const char *name, size_t len)
{
	if (p->literal_len > len)
		return false;
	/* Of a thousand expressions for a hundred thousand names that is what most come to. */
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
	return has_literal(p, name, len) && regexec(&p->regex, name, 0, NULL, 0) == 0;
}
