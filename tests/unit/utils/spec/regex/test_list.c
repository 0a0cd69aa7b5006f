/* Unit tests of utils/spec/regex/list.c. */
#include "tests/unit/lib/unit.h"

#include <string.h>

#include "utils/base/compiler.h"
#include "utils/spec/regex/list.h"

TEST(test_pieces)
{
	static const struct {
		const char *list;
		const char *pieces[4];
	} cases[] = {
		{ "", { NULL } },
		{ ";", { NULL } },
		{ "a", { "a" } },
		{ "a;b", { "a", "b" } },
		{ "a;", { "a" } },
		{ ";;a;;b;;", { "a", "b" } },
		{ "a;bb;ccc", { "a", "bb", "ccc" } },
		{ "a;b;c;d", { "a", "b", "c", "d" } },
		{ "f?arg1==\"x;y\";g", { "f?arg1==\"x;y\"", "g" } },
		{ "f?arg1==\"x\\\";y\";g", { "f?arg1==\"x\\\";y\"", "g" } },
		/* Outside of a string a backslash stands for itself. */
		{ "a\\;b", { "a\\", "b" } },
		/* A string without an end reaches to the end of the text. */
		{ "a\";b", { "a\";b" } },
		{ "a\"\\", { "a\"\\" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct spec_piece piece = { 0 };

		for (size_t k = 0; k < ARRAY_SIZE(cases[i].pieces) && cases[i].pieces[k]; k++) {
			assert_true(spec_list_next(cases[i].list, &piece));
			assert_int_equal(piece.len, strlen(cases[i].pieces[k]));
			assert_memory_equal(piece.at, cases[i].pieces[k], piece.len);
		}
		if (!cases[i].pieces[ARRAY_SIZE(cases[i].pieces) - 1])
			assert_false(spec_list_next(cases[i].list, &piece));
	}
}
