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

/* The latest time that a line can have, and words that are too long. */
TEST(limits_of_a_line)
{
	static const struct {
		const char *text;
		bool is_line;
		uint64_t time_ns;
	} rows[] = {
		{ "caller 18446744071.999999999 0 0 x", true, 18446744071999999999ULL },
		{ "caller 18446744072.000000000 0 0 x", false, 0 },
		{ "caller 0.000000000 0 0 x", true, 0 },
		{ "caller 1.7 0 0 x", true, 1000000007 },
		{ "again 2.000000001   1  ff   a b ", true, 2000000001 },
		{ "againagainagain 1.000000000 0 0 x", false, 0 },
		{ "callers 1.000000000 0 0 x", false, 0 },
		{ "calle 1.000000000 0 0 x", false, 0 },
		{ "function 1 0 0 x", false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct left_out line = { 0 };

		if (left_out_decode(rows[i].text, &line) != rows[i].is_line)
			fail_msg("%s", rows[i].text);
		if (rows[i].is_line)
			assert_true(line.time_ns == rows[i].time_ns);
	}
	struct left_out line;

	assert_true(left_out_decode("again 2.000000001   1  ff   a b ", &line));
	assert_int_equal(line.kind, LEFT_OUT_AGAIN);
	assert_int_equal(line.permille, 1);
	assert_int_equal(line.addr, 0xff);
	assert_string_equal(line.path, "a b ");
}
