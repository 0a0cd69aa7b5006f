/* Compiles a regular expression to the automaton that the probe runs (see regex_plan.h). */
#include "utils/spec/regex/regex_plan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/compiler.h"

/* @why: the error, which ends parsing; NULL: none */
struct parse {
	const char *at;
	struct automaton *a;
	unsigned nr; /* positions so far */
	unsigned depth;
	const char *why;
};

#define DEPTH_MAX  32 /* of groups within groups */
/*
 * The highest count of a repetition such as "a{255}". POSIX requires support for counts up to 255
 * (_POSIX_RE_DUP_MAX).
 */
#define REPEAT_MAX 255

/*
 * A part of the expression.
 *
 * @first: a bit for each position with which the part can begin
 * @last: a bit for each position with which the part can end
 */
struct part {
	uint64_t first;
	uint64_t last;
	bool may_be_empty;
};

typedef uint8_t byte_set[256];

static const struct part empty = { .may_be_empty = true };

static void give_up(struct parse *p, const char *why)
{
	if (!p->why)
		p->why = why;
}

static void link_parts(struct parse *p, uint64_t last, uint64_t first)
{
	for (; last; last &= last - 1)
		p->a->follow[__builtin_ctzll(last)] |= first;
}

static struct part join_parts(struct parse *p, struct part a, struct part b)
{
	link_parts(p, a.last, b.first);
	return (struct part){
		.first = a.first | (a.may_be_empty ? b.first : 0),
		.last = b.last | (b.may_be_empty ? a.last : 0),
		.may_be_empty = a.may_be_empty && b.may_be_empty,
	};
}

static struct part either(struct part a, struct part b)
{
	return (struct part){ a.first | b.first, a.last | b.last,
			      a.may_be_empty || b.may_be_empty };
}

/* Add a position that matches any one byte of @set. */
static struct part add_position(struct parse *p, const byte_set set)
{
	if (p->nr == AUTOMATON_POSITIONS) {
		give_up(p, "it is too long");
		return empty;
	}

	uint64_t bit = 1ULL << p->nr++;

	/* A name has no NUL. */
	for (unsigned c = 1; c < 256; c++) {
		if (set[c])
			p->a->takes[c] |= bit;
	}
	return (struct part){ bit, bit, false };
}

static struct part place_one(struct parse *p, char c)
{
	byte_set set = { 0 };

	set[(uint8_t)c] = 1;
	return add_position(p, set);
}

static const struct {
	const char *name;
	int (*has)(int c);
} classes[] = {
	{ "[:alnum:]", isalnum }, { "[:alpha:]", isalpha }, { "[:blank:]", isblank },
	{ "[:cntrl:]", iscntrl }, { "[:digit:]", isdigit }, { "[:graph:]", isgraph },
	{ "[:lower:]", islower }, { "[:print:]", isprint }, { "[:punct:]", ispunct },
	{ "[:space:]", isspace }, { "[:upper:]", isupper }, { "[:xdigit:]", isxdigit },
};

static void add_class(struct parse *p, byte_set set)
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		size_t len = strlen(classes[i].name);

		if (strncmp(p->at, classes[i].name, len) != 0)
			continue;
		for (int c = 0; c < 128; c++)
			set[c] |= classes[i].has(c) != 0;
		p->at += len;
		return;
	}
	give_up(p, "it has a set of characters that is written in an unusual way");
}

/* Parse the text after the '['. */
static struct part parse_bracket(struct parse *p)
{
	byte_set set = { 0 };
	bool is_negated = *p->at == '^';
	const char *start = p->at += is_negated;

	while (*p->at && (*p->at != ']' || p->at == start) && !p->why) {
		if (*p->at == '[' && p->at[1] && strchr(":.=", p->at[1])) {
			add_class(p, set);
			continue;
		}

		uint8_t low = *p->at++;
		uint8_t high = low;

		if (*p->at == '-' && p->at[1] && p->at[1] != ']') {
			high = p->at[1];
			if (high == '[')
				give_up(p, "it has a range of characters that is written in an "
					   "unusual way");
			p->at += 2;
		}
		for (unsigned c = low; c <= high; c++)
			set[c] = 1;
	}
	if (*p->at == ']')
		p->at++;
	for (unsigned c = 0; is_negated && c < 256; c++)
		set[c] = !set[c];
	return add_position(p, set);
}

static struct part parse_branches(struct parse *p);

static struct part parse_group(struct parse *p)
{
	struct part part = empty;

	if (++p->depth > DEPTH_MAX)
		give_up(p, "its groups are nested too deeply");
	else
		part = parse_branches(p);
	p->depth--;
	if (*p->at == ')')
		p->at++;
	return part;
}

/* Parse a part, without the repetitions after it. */
static struct part parse_atom(struct parse *p)
{
	byte_set any;
	char c = *p->at++;

	switch (c) {
	case '.':
		memset(any, 1, sizeof(any));
		return add_position(p, any);
	case '[':
		return parse_bracket(p);
	case '(':
		return parse_group(p);
	case '^':
	case '$':
		give_up(p, "it has '^' or '$' within");
		return empty;
	case '*':
	case '+':
	case '?':
	case '{':
		give_up(p, "it has a repetition of nothing");
		return empty;
	case '\\':
		c = *p->at;
		if (!c || isalnum((unsigned char)c) || strchr("<>`'", c)) {
			give_up(p, "it has an escaped letter or digit");
			return empty;
		}
		p->at++;
		return place_one(p, c);
	default:
		return place_one(p, c);
	}
}

/* Parse "{2}", "{2,}", "{,3}" or "{2,3}". Without an upper limit, *@high is -1. */
static bool parse_interval(struct parse *p, long *low, long *high)
{
	char *end;

	*low = strtol(p->at + 1, &end, 10);
	*high = *low;
	if (*end == ',') {
		const char *start = ++end;

		*high = strtol(start, &end, 10);
		if (end == start)
			*high = -1;
	}
	if (*end != '}' || *low < 0 || *low > REPEAT_MAX || *high > REPEAT_MAX) {
		give_up(p, "it has a repetition that is written in an unusual way");
		return false;
	}
	p->at = end + 1;
	return true;
}

/*
 * Parse a repetition of the atom at @start. @once: the first copy of the atom. For each further
 * copy, the atom is parsed again.
 */
static struct part repeat_part(struct parse *p, const char *start, struct part once)
{
	struct part all = empty;
	struct part copy = once;
	long low;
	long high;

	if (!parse_interval(p, &low, &high))
		return empty;

	/*
	 * Do not parse copies of an empty part. Otherwise the "()" in "(((){255}){255}){255}" would
	 * be parsed 255 * 255 * 255 times.
	 */
	if (!once.first)
		return empty;

	const char *behind = p->at;
	long copies = high < 0 ? MAX(low, 1L) : high;

	for (long i = 0; i < copies && !p->why; i++) {
		if (i) {
			p->at = start;
			copy = parse_atom(p);
		}
		if (high < 0 && i == copies - 1)
			link_parts(p, copy.last, copy.first);
		copy.may_be_empty |= i >= low;
		all = join_parts(p, all, copy);
	}
	p->at = behind;
	return all;
}

static struct part parse_piece(struct parse *p)
{
	const char *start = p->at;
	struct part part = parse_atom(p);
	bool is_plain = true;

	for (; *p->at && strchr("*+?{", *p->at) && !p->why; is_plain = false) {
		if (*p->at == '{') {
			if (!is_plain)
				give_up(p, "it repeats a repetition");
			else
				part = repeat_part(p, start, part);
			continue;
		}
		if (*p->at != '?')
			link_parts(p, part.last, part.first);
		part.may_be_empty |= *p->at != '+';
		p->at++;
	}
	return part;
}

static bool is_at_end(const struct parse *p)
{
	return !*p->at || *p->at == '|' || (*p->at == ')' && p->depth);
}

static struct part parse_sequence(struct parse *p)
{
	struct part all = empty;

	while (!is_at_end(p) && !p->why) {
		if (*p->at == '$' && p->depth == 0 && (!p->at[1] || p->at[1] == '|'))
			break; /* the end of an outermost alternative */
		all = join_parts(p, all, parse_piece(p));
	}
	return all;
}

static struct part parse_branches(struct parse *p)
{
	struct part all = parse_sequence(p);

	while (*p->at == '|' && !p->why) {
		p->at++;
		all = either(all, parse_sequence(p));
	}
	return all;
}

/* Parse an outermost alternative. */
static void parse_alternative(struct parse *p)
{
	struct automaton *a = p->a;
	bool is_at_start = *p->at == '^';

	p->at += is_at_start;

	struct part part = parse_sequence(p);
	bool is_to_end = *p->at == '$';

	p->at += is_to_end;
	*(is_at_start ? &a->first_at_start : &a->first) |= part.first;
	*(is_to_end ? &a->last_at_end : &a->last) |= part.last;
	if (part.may_be_empty)
		a->flags |= is_at_start && is_to_end ? AUTOMATON_EMPTY : AUTOMATON_ALWAYS;
}

int regex_plan(const char *regex, struct automaton *out, struct uft_err *err)
{
	struct parse p = { .at = regex, .a = out };

	*out = (struct automaton){ 0 };
	parse_alternative(&p);
	while (*p.at == '|' && !p.why) {
		p.at++;
		parse_alternative(&p);
	}
	if (!p.why && *p.at)
		give_up(&p, "it is written in an unusual way");
	if (!p.why)
		return 0;
	return err_set(err, -ERR_USAGE,
		       "'%s' is too much for a regular expression while recording: %s", regex,
		       p.why);
}
