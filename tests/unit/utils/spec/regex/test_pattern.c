/* Unit tests of utils/spec/regex/pattern.c. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/spec/regex/pattern.h"

struct match_case {
	enum pattern_match match;
	const char *pattern;
	const char *name;
	bool matches;
};

static const struct match_case match_cases[] = {
	/* A pattern without special characters matches exactly this name. */
	{ MATCH_REGEX, "foo", "foo", true },
	{ MATCH_REGEX, "foo", "foobar", false },
	{ MATCH_REGEX, "foo", "xfoo", false },
	{ MATCH_GLOB, "foo", "foobar", false },
	{ MATCH_REGEX, "operator new[]", "operator new[]", true },
	{ MATCH_REGEX, "operator new[]", "operator new", false },
	{ MATCH_REGEX, "ns::foo", "ns::foo", true },
	/* A pattern with "::" at its end matches the names in that scope. */
	{ MATCH_REGEX, "ns::", "ns::foo", true },
	{ MATCH_REGEX, "ns::", "xns::foo", false },
	{ MATCH_GLOB, "ns::", "ns::in::foo", true },
	{ MATCH_SIMPLE, "ns::", "ns", false },
	{ MATCH_SIMPLE, "::", "a::b", false },
	/* A regular expression may match anywhere in the name. */
	{ MATCH_REGEX, "fo.", "xfoox", true },
	{ MATCH_REGEX, "^foo", "foobar", true },
	{ MATCH_REGEX, "^foo", "xfoobar", false },
	{ MATCH_REGEX, "foo$", "xfoo", true },
	{ MATCH_REGEX, "foo$", "foox", false },
	{ MATCH_REGEX, "^foo$", "foo", true },
	{ MATCH_REGEX, ".", "x", true },
	{ MATCH_REGEX, "^(foo|bar)$", "bar", true },
	{ MATCH_REGEX, "^(foo|bar)$", "baz", false },
	{ MATCH_REGEX, "ab*c", "ac", true },
	{ MATCH_REGEX, "ab?c", "ac", true },
	{ MATCH_REGEX, "ab{0,1}c", "ac", true },
	{ MATCH_REGEX, "ab+c", "ac", false },
	{ MATCH_REGEX, "ab+c", "abbc", true },
	{ MATCH_REGEX, "ab+?c", "ac", true },
	{ MATCH_REGEX, "ab++*c", "ac", true },
	{ MATCH_REGEX, "^b+{0}c", "c", true },
	{ MATCH_REGEX, "[xy]foo", "yfoo", true },
	{ MATCH_REGEX, "[xy]foo", "zfoo", false },
	{ MATCH_REGEX, "x[]a]y", "x]y", true },
	{ MATCH_REGEX, "x[[:alpha:]b]y", "xzy", true },
	{ MATCH_REGEX, "x[[:digit:]long_class]y", "x7y", true },
	{ MATCH_REGEX, "x[^abc]y", "xdy", true },
	{ MATCH_REGEX, "a\\+b", "a+b", true },
	{ MATCH_REGEX, "std::.*::push_back", "std::vector::push_back", true },
	{ MATCH_REGEX, "std::.*::push_back", "std::push_back", false },
	{ MATCH_REGEX, "foo|barbaz", "foo", true },
	/* Shortcuts: the fixed beginning of each match, and its longest fixed part. */
	{ MATCH_REGEX, "^ab.*cdef", "abxcdefx", true },
	{ MATCH_REGEX, "^ab.*cdef", "abxcdex", false },
	{ MATCH_REGEX, "^ab.*cdef", "xabcdef", false },
	{ MATCH_REGEX, "^ab.*cdef", "a", false },
	{ MATCH_REGEX, "^abc*d", "abd", true },
	{ MATCH_REGEX, "^a*b", "b", true },
	{ MATCH_REGEX, "^a?bcd", "bcd", true },
	{ MATCH_REGEX, "^.bcd", "xbcd", true },
	{ MATCH_REGEX, "^[ab]cd", "bcd", true },
	{ MATCH_REGEX, "^", "", true },
	/* A glob must match the whole name. */
	{ MATCH_GLOB, "fo?", "foo", true },
	{ MATCH_GLOB, "fo?", "fooo", false },
	{ MATCH_GLOB, "f*", "foo", true },
	{ MATCH_GLOB, "*o", "foo", true },
	{ MATCH_GLOB, "[fg]oo", "goo", true },
	/* With MATCH_SIMPLE no character is special. */
	{ MATCH_SIMPLE, "f.o", "foo", false },
	{ MATCH_SIMPLE, "f.o", "f.o", true },
};

TEST(test_matching)
{
	for (size_t i = 0; i < ARRAY_SIZE(match_cases); i++) {
		const struct match_case *c = &match_cases[i];
		struct pattern p cleanup_pattern;

		assert_int_equal(pattern_init(&p, c->match, c->pattern, strlen(c->pattern), NULL),
				 0);
		if (pattern_matches(&p, c->name, strlen(c->name)) != c->matches)
			fail_msg("'%s' and '%s'", c->pattern, c->name);
	}
}

/* Patterns that would need gigabytes are refused. Ordinary patterns are not. */
TEST(test_repeats)
{
	static const char *const bad[] = { "((a{200}){200}){200}", "(((((a{9}){9}){9}){9}){9}){9}",
					   "x{9999}y{9999}", "a{99999}", "(a|b){4000}" };
	static const char *const good[] = { "^foo(bar)+$", "a{255}", "[a-z]+::[a-z_]+(<.*>)?$",
					    "(a|b)*c+?",   "[]+]+",  "a\\+\\+\\+\\+",
					    "a++++++++++", "2*+++x", "(((((a?)?)?)?)?)?" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct pattern p;
		struct uft_err err = { 0 };

		assert_int_equal(pattern_init(&p, MATCH_REGEX, bad[i], strlen(bad[i]), &err),
				 -ERR_USAGE);
		assert_non_null(strstr(err.text, "repeats"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct pattern p cleanup_pattern = { 0 };

		assert_int_equal(pattern_init(&p, MATCH_REGEX, good[i], strlen(good[i]), NULL), 0);
	}
}

TEST(test_bad_regex)
{
	static const char *const bad[] = { "f[", "(foo", "foo)(", "*{", "a{2" };

	for (size_t i = 0; i < ARRAY_SIZE(bad) - 2; i++) {
		struct uft_err err = { 0 };
		struct pattern p;

		assert_int_equal(pattern_init(&p, MATCH_REGEX, bad[i], strlen(bad[i]), &err),
				 -ERR_USAGE);
		assert_non_null(strstr(err.text, "is not a regular expression"));
		assert_null(p.text);
	}
}

/*
 * For some of these patterns regexec(3) backtracks for minutes. Others it matches in quadratic
 * time.
 */
TEST(test_work)
{
	static const char *const patterns[] = { "(a|aa)+$", "(a*)*b", "a*a*a*a*a*a*b",
						"(a|b)*a(a|b){100}x", "(.*)(.*)(.*)(.*)x" };
	static char name[65536];

	memset(name, 'a', sizeof(name));
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct pattern p cleanup_pattern = { 0 };

		assert_int_equal(
			pattern_init(&p, MATCH_REGEX, patterns[i], strlen(patterns[i]), NULL), 0);
		assert_int_equal(regex_finds(p.regex, name, sizeof(name)), i == 0);
		assert_true(regex_steps(p.regex) <=
			    (sizeof(name) + 2) * regex_steps_per_byte(p.regex));
		/* A byte that was already seen in the same state takes one look-up. */
		assert_true(regex_steps(p.regex) <= 2 * sizeof(name));
	}
}

TEST(test_references)
{
	static const char *const bad[] = { "(a)\\1", "(a*)(b)\\2", "(a|\\2)()" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct uft_err err = { 0 };
		struct pattern p;

		assert_int_equal(pattern_init(&p, MATCH_REGEX, bad[i], strlen(bad[i]), &err),
				 -ERR_USAGE);
		assert_non_null(strstr(err.text, "refers back"));
	}
}

TEST(test_long_glob)
{
	static char text[5000];
	struct uft_err err = { 0 };
	struct pattern p;

	memset(text, '*', sizeof(text));
	assert_int_equal(pattern_init(&p, MATCH_GLOB, text, sizeof(text), &err), -ERR_USAGE);
	assert_non_null(strstr(err.text, "too long"));
}

TEST(test_part_of_a_text)
{
	struct pattern p cleanup_pattern;

	assert_int_equal(pattern_init(&p, MATCH_REGEX, "foo@bar", 3, NULL), 0);
	assert_true(pattern_matches(&p, "foo", 3));
}

TEST(test_names)
{
	assert_string_equal(pattern_match_name(MATCH_REGEX), "regex");
	assert_string_equal(pattern_match_name(MATCH_GLOB), "glob");
	assert_string_equal(pattern_match_name(MATCH_SIMPLE), "simple");
}
