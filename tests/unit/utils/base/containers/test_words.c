/* Unit tests of utils/base/containers/words.c. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/words.h"

TEST(test_good)
{
	static const struct {
		const char *text;
		const char *words[6];
	} cases[] = {
		{ "", { NULL } },
		{ " \n\t ", { NULL } },
		{ "-F main", { "-F", "main" } },
		{ "-F 'a b' -N\n\"c d\"", { "-F", "a b", "-N", "c d" } },
		{ "# all\n-D 3 # three\n", { "-D", "3" } },
		{ "a#b", { "a#b" } },
		{ "a\\ b c\\#d", { "a b", "c#d" } },
		{ "x'y'\"z\"", { "xyz" } },
		{ "\"a\\\"b\\n\"", { "a\"b\\n" } },
		{ "''", { "" } },
		{ "a\\", { "a\\" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct words words cleanup_words = { 0 };
		size_t nr = 0;

		assert_int_equal(words_add(&words, cases[i].text, NULL), 0);
		while (cases[i].words[nr])
			nr++;
		assert_int_equal(words.nr, nr);
		for (size_t k = 0; k < nr; k++)
			assert_string_equal(words.words[k], cases[i].words[k]);
		if (nr)
			assert_null(words.words[nr]);
	}
}

TEST(test_quote_without_end)
{
	struct words words cleanup_words = { 0 };
	struct uft_err err = { 0 };

	assert_int_equal(words_add(&words, "a\n'b\nc", &err), -EINVAL);
	assert_string_equal(err.text, "line 2: the quote has no end");
}

TEST(test_quoted)
{
	static const char *const cases[][2] = {
		{ "./prog-1.2_x/y=3,@:%+", "./prog-1.2_x/y=3,@:%+" },
		{ "", "\"\"" },
		{ "a b", "\"a b\"" },
		{ "it's", "\"it's\"" },
		{ "q\"x", "\"q\\\"x\"" },
		{ "$HOME`a`\\", "\"\\$HOME\\`a\\`\\\\\"" },
		{ "^(a|b)$", "\"^(a|b)\\$\"" },
		{ "!main", "'!main'" },
		{ "it's!x", "'it'\\''s!x'" },
		{ "a\nb'\\", "$'a\\012b\\'\\\\'" },
		{ "~", "\"~\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf out cleanup_strbuf = { 0 };

		words_quote(cases[i][0], &out);
		assert_string_equal(strbuf_str(&out), cases[i][1]);
	}
}
