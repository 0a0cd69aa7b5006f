/* Unit tests of utils/spec/regex/regex_plan.c: the automaton finds the same as regexec(3). */
#include "tests/unit/lib/unit.h"

#include <regex.h>

#include "utils/base/compiler.h"
#include "utils/spec/regex/regex_plan.h"

static const char *const texts[] = {
	"",	 "a",	 "b",	   "ab",	"ba",	  "aa",	  "aaa",  "aaaa",   "abc",
	"xabcx", "foo",	 "foobar", "barfoo",	"/etc/x", "a.b",  "a-b",  "]",	    "^",
	"$",	 "a\nb", "A1_",	   "\xc3\xa4x", "{",	  "a{2}", "abab", "ababab", "cab",
	"12",	 "x12y", "-",	   "\\",	"a|b",	  "()",	  "  ",	  "abcabc", "aXbXc",
};

static void check(const char *pattern)
{
	struct automaton a;
	struct uft_err err = { 0 };
	regex_t regex;

	assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	if (regex_plan(pattern, &a, &err) < 0)
		fail_msg("%s: %s", pattern, err.text);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		bool wanted = regexec(&regex, texts[i], 0, NULL, 0) == 0;

		if (automaton_matches(&a, (const uint8_t *)texts[i], strlen(texts[i])) != wanted)
			fail_msg("'%s' and '%s': regexec says %d", pattern, texts[i], wanted);
	}
	regfree(&regex);
}

TEST(as_regexec)
{
	static const char *const patterns[] = {
		"a",
		"^a",
		"a$",
		"^a$",
		"^$",
		"^",
		"$",
		"ab",
		"a|b",
		"^a|b$",
		"^ab|^b",
		"(ab)+$",
		"^(ab)*$",
		"^(a|b)*$",
		"a*",
		"^a*$",
		"^a+$",
		"^a?$",
		"^a{2}$",
		"^a{2,}$",
		"^a{1,3}$",
		"^(ab){2}$",
		"^(ab){2,3}$",
		"^(ab){0,1}$",
		"^a{0}$",
		"^(a?){3}$",
		"^(a*b?)+$",
		".",
		"^.$",
		"^..$",
		"a.b",
		"a\\.b",
		"[ab]",
		"^[ab]+$",
		"[^ab]",
		"^[^ab]*$",
		"[a-c]+$",
		"[]]",
		"[^]]",
		"[a-]",
		"[-a]",
		"^[[:alpha:]]+$",
		"[[:digit:]]{2}",
		"[[:upper:]][[:digit:]]_",
		"[[:space:]]",
		"^/etc/",
		"(foo)?bar",
		"foo(bar)?$",
		"(a|b)(a|b)",
		"((a)|(b))+c",
		"\\^",
		"\\$",
		"\\{",
		"\\|",
		"\\\\",
		"a**",
		"(a+)+$",
		"^(a|)b",
		"()",
		"a()b",
		"x|",
		"|x",
		"^(abc)+$",
		"b.*c$",
		"^[^X]*X[^X]*X",
		"[.]",
		"[*+?]",
		"a{2}b|c",
		"^a{,2}$",
	};

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		check(patterns[i]);
}

/* Random expressions, which are the same in each run. */
TEST(as_regexec_at_random)
{
	static const char *const parts[] = { "a",      "b", "c",    ".",   "[ab]", "[^a]",
					     "(ab|c)", "x", "(a|)", "(b)", "1",	   "[a-c]" };
	static const char *const repeats[] = { "", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,}" };
	uint32_t seed = 1;

	for (int round = 0; round < 2000; round++) {
		char pattern[128] = "";

		for (int i = 0; i < 5; i++) {
			seed = seed * 1103515245 + 12345;
			if (i == 0 && (seed >> 16) % 4 == 0)
				strcat(pattern, "^");
			if (i && (seed >> 18) % 8 == 0)
				strcat(pattern, "|");
			strcat(pattern, parts[(seed >> 20) % ARRAY_SIZE(parts)]);
			strcat(pattern, repeats[(seed >> 8) % ARRAY_SIZE(repeats)]);
		}
		if ((seed >> 10) % 3 == 0)
			strcat(pattern, "$");
		check(pattern);
	}
}

TEST(refused)
{
	static const char *const patterns[][2] = {
		{ "(a)\\1", "escaped" },
		{ "\\w", "escaped" },
		{ "\\bx", "escaped" },
		{ "(^a|b)", "'^' or '$'" },
		{ "a(b$)", "'^' or '$'" },
		{ "a^b", "'^' or '$'" },
		{ "a{65}", "too long" },
		{ "(a{9}){9}", "too long" },
		{ "[[.a.]]", "unusual" },
		{ "[[=a=]]", "unusual" },
		{ "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg", "too long" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct uft_err err = { 0 };
		struct automaton a;

		assert_int_equal(regex_plan(patterns[i][0], &a, &err), -ERR_USAGE);
		if (!strstr(err.text, patterns[i][1]))
			fail_msg("'%s': %s", patterns[i][0], err.text);
	}
}
