/*
 * Unit tests of utils/format/left_out.c: functions that were not recorded, and the times since
 * when.
 */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/format/left_out.h"

TEST(there_and_back)
{
	const struct left_out lines[] = {
		{ LEFT_OUT_FUNCTION, 1234000000056, 999, 0x1260, "/a b/c" },
		{ LEFT_OUT_CALLER, 0, 0, UINT64_MAX, "x" },
		{ LEFT_OUT_AGAIN, 1, 0, 0x1260, "/a b/c" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct strbuf text cleanup_strbuf = { 0 };
		struct left_out back;

		left_out_encode(&lines[i], &text);
		assert_int_equal(text.data[text.len - 1], '\n');
		text.data[text.len - 1] = '\0';
		assert_true(left_out_decode(strbuf_str(&text), &back));
		assert_int_equal(back.kind, lines[i].kind);
		assert_int_equal(back.time_ns, lines[i].time_ns);
		assert_int_equal(back.permille, lines[i].permille);
		assert_int_equal(back.addr, lines[i].addr);
		assert_string_equal(back.path, lines[i].path);
	}
}

TEST(a_line_stays_one)
{
	struct strbuf text cleanup_strbuf = { 0 };
	const struct left_out line = { LEFT_OUT_CALLER, 1, 2, 3, "a\nb" };

	left_out_encode(&line, &text);
	assert_string_equal(strbuf_str(&text), "caller 0.000000001 2 3 a?b\n");
}

TEST(what_is_no_line)
{
	static const char *const texts[] = {
		"",
		"function",
		"function 1.2 3",
		"function 1.2 3 zz /a",
		"function 1.2 3 10",
		"function 1.2 3 10 ",
		"other 1.2 3 10 /a",
		"function 99999999999999.2 3 10 /a",
	};
	struct left_out line;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_false(left_out_decode(texts[i], &line));
}
