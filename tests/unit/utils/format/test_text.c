/*
 * The cursor over text from disk: where each reader stops; and that nothing changes when a reader
 * fails.
 */
#include "tests/unit/lib/unit.h"

#include "utils/format/text.h"

/* Returns a cursor over a copy of @text, in a block that has exactly the size of the text. */
static struct text cursor(const char *text, char **block)
{
	size_t len = strlen(text);

	*block = exact_copy(text, len);
	return (struct text){ *block, *block + len };
}

TEST(lines)
{
	char *block;
	struct text in = cursor("ab\n\nc", &block);
	struct text line;
	bool whole;

	assert_int_equal(text_left(&in), 5);
	assert_true(text_line(&in, &line, &whole));
	assert_int_equal(text_left(&line), 2);
	assert_ptr_equal(line.at, block);
	assert_true(whole);
	assert_true(text_line(&in, &line, &whole));
	assert_int_equal(text_left(&line), 0);
	assert_true(whole);
	assert_true(text_line(&in, &line, &whole));
	assert_int_equal(text_left(&line), 1);
	assert_false(whole);
	assert_false(text_line(&in, &line, &whole));
	free(block);
	in = text_of(NULL, 0);
	assert_false(text_line(&in, &line, &whole));
}

TEST(words)
{
	char *block;
	struct text in = cursor("abc", &block);

	assert_false(text_word(&in, "abcd"));
	assert_false(text_word(&in, "b"));
	assert_int_equal(text_left(&in), 3);
	assert_true(text_word(&in, "a"));
	assert_true(text_word(&in, "bc"));
	assert_int_equal(text_left(&in), 0);
	assert_true(text_word(&in, ""));
	free(block);
}

/*
 * @rest: the number of bytes after the number; -1 when there is no number and the cursor must stay
 */
static void check_dec(const char *text, uint64_t expected, int rest)
{
	char *block;
	struct text in = cursor(text, &block);
	uint64_t v = 4711;

	assert_int_equal(text_dec(&in, &v), rest >= 0);
	assert_int_equal(text_left(&in), rest >= 0 ? (size_t)rest : strlen(text));
	assert_int_equal(v, rest >= 0 ? expected : 4711);
	free(block);
}

static void check_hex(const char *text, uint64_t expected, int rest)
{
	char *block;
	struct text in = cursor(text, &block);
	uint64_t v = 4711;

	assert_int_equal(text_hex(&in, &v), rest >= 0);
	assert_int_equal(text_left(&in), rest >= 0 ? (size_t)rest : strlen(text));
	assert_int_equal(v, rest >= 0 ? expected : 4711);
	free(block);
}

TEST(numbers)
{
	check_dec("0", 0, 0);
	check_dec("0123456789:", 123456789, 1);
	check_dec("9a", 9, 1);
	check_dec("18446744073709551615", UINT64_MAX, 0);
	check_dec("18446744073709551616", 0, -1);
	check_dec("184467440737095516150", 0, -1);
	check_dec("", 0, -1);
	check_dec("-1", 0, -1);
	check_dec("a", 0, -1);
	check_dec("/", 0, -1);
	check_dec(" 1", 0, -1);

	check_hex("0123456789", 0x123456789, 0);
	check_hex("abcdefg", 0xabcdef, 1);
	check_hex("ABCDEFG", 0xabcdef, 1);
	check_hex("9:", 9, 1);
	check_hex("0x1", 0, 2);
	check_hex("ffffffffffffffff", UINT64_MAX, 0);
	check_hex("10000000000000000", 0, -1);
	check_hex("`", 0, -1);
	check_hex("@", 0, -1);
	check_hex("G", 0, -1);
}

static void check_i64(const char *text, int64_t expected, int rest)
{
	char *block;
	struct text in = cursor(text, &block);
	int64_t v = 4711;

	assert_int_equal(text_i64(&in, &v), rest >= 0);
	assert_int_equal(text_left(&in), rest >= 0 ? (size_t)rest : strlen(text));
	assert_int_equal(v, rest >= 0 ? expected : 4711);
	free(block);
}

static void check_i32(const char *text, int32_t expected, int rest)
{
	char *block;
	struct text in = cursor(text, &block);
	int32_t v = 4711;

	assert_int_equal(text_i32(&in, &v), rest >= 0);
	assert_int_equal(text_left(&in), rest >= 0 ? (size_t)rest : strlen(text));
	assert_int_equal(v, rest >= 0 ? expected : 4711);
	free(block);
}

TEST(signed_numbers)
{
	check_i64("-0", 0, 0);
	check_i64("-12 ", -12, 1);
	check_i64("9223372036854775807", INT64_MAX, 0);
	check_i64("-9223372036854775807", -INT64_MAX, 0);
	check_i64("9223372036854775808", 0, -1);
	check_i64("--1", 0, -1);
	check_i64("-", 0, -1);
	check_i64("+1", 0, -1);

	check_i32("2147483647", INT32_MAX, 0);
	check_i32("2147483648", 0, -1);
	check_i32("-2147483648,", INT32_MIN, 1);
	check_i32("-2147483649", 0, -1);
	check_i32("x", 0, -1);
}

static void check_fixed(const char *text, unsigned digits, uint64_t expected, int rest)
{
	char *block;
	struct text in = cursor(text, &block);
	uint64_t v = 4711;

	assert_int_equal(text_fixed(&in, digits, &v), rest >= 0);
	assert_int_equal(text_left(&in), rest >= 0 ? (size_t)rest : strlen(text));
	assert_int_equal(v, rest >= 0 ? expected : 4711);
	free(block);
}

TEST(fixed_numbers)
{
	check_fixed("1.5", 3, 1500, 0);
	check_fixed("1.500 ", 3, 1500, 1);
	check_fixed("1.2345", 3, 1234, 0);
	check_fixed("1.2345", 0, 1, 0);
	check_fixed("0.09", 2, 9, 0);
	check_fixed("12.000000001", 9, 12000000001, 0);
	check_fixed("18446744073.709551615", 9, UINT64_MAX, 0);
	check_fixed("18446744073.709551616", 9, 0, -1);
	check_fixed("18446744073.7095516159", 9, UINT64_MAX, 0);
	check_fixed("18446744074.0", 9, 0, -1);
	check_fixed("1844674407370955162.0", 1, 0, -1);
	check_fixed("1844674407370955161.9", 1, 0, -1);
	check_fixed("1", 3, 0, -1);
	check_fixed("1.", 3, 0, -1);
	check_fixed("1.x", 3, 0, -1);
	check_fixed(".5", 3, 0, -1);
	check_fixed("1.5:", 1, 15, 1);
	check_fixed("1.5/", 1, 15, 1);
}

TEST(copies)
{
	char *block;
	struct text in = cursor("abc", &block);
	char *copy;

	in.at++;
	in.end--;
	copy = text_dup(&in);
	assert_string_equal(copy, "b");
	free(copy);
	free(block);
}

static void check_put_hex(uint64_t v, unsigned width, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	text_put_hex(&out, v, width);
	assert_string_equal(strbuf_str(&out), expected);
}

TEST(putting)
{
	struct strbuf out cleanup_strbuf = { 0 };

	check_put_hex(0, 0, "0");
	check_put_hex(0, 1, "0");
	check_put_hex(0, 2, "00");
	check_put_hex(0x1234567890abcdef, 1, "1234567890abcdef");
	check_put_hex(0xf, 16, "000000000000000f");
	check_put_hex(0x10, 2, "10");
	check_put_hex(0x10, 3, "010");

	text_put_name(&out, "a\nb\n\nc", 6);
	assert_string_equal(strbuf_str(&out), "a\\012b\\012\\012c");
	strbuf_reset(&out);
	text_put_name(&out, "ab\ncd", 3);
	assert_string_equal(strbuf_str(&out), "ab\\012");
	strbuf_reset(&out);
	text_put_name(&out, "abcd", 2);
	assert_string_equal(strbuf_str(&out), "ab");
	strbuf_reset(&out);
	text_put_name(&out, "abcd", 0);
	assert_string_equal(strbuf_str(&out), "");
}
