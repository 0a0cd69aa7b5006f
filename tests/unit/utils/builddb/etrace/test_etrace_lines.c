/* Texts in the etrace format: their lines, and the places where lines are cut. */
#include "tests/unit/lib/unit.h"

#include "utils/builddb/etrace/etrace_lines.h"

#define MANY 2000

/*
 * A text of @len bytes with newlines at @newlines, up to the first negative one. @lines: the heads
 * of its lines, each with the number of bytes after it.
 */
struct row {
	size_t len;
	int newlines[4];
	const char *lines;
};

static const struct row text_rows[] = {
	{ 0, { -1 }, "FN|:0" },
	{ 1, { -1 }, "FN|:1" },
	{ 899, { -1 }, "FN|:899" },
	{ 900, { -1 }, "FN[0]:900 FN_end|:0" },
	{ 901, { -1 }, "FN[0]:900 FN[1]:1 FN_end|:0" },
	{ 1800, { -1 }, "FN[0]:900 FN[1]:900 FN_end|:0" },
	{ 1801, { -1 }, "FN[0]:900 FN[1]:900 FN[2]:1 FN_end|:0" },
	/* Newlines begin and end texts, are in the middle, and are where lines end. */
	{ 1, { 0, -1 }, "FN|:0 Cont|:0 Cont_end|:0" },
	{ 2, { 0, 1, -1 }, "FN|:0 Cont|:0 Cont|:0 Cont_end|:0" },
	{ 899, { 898, -1 }, "FN|:898 Cont|:0 Cont_end|:0" },
	{ 899, { 0, -1 }, "FN|:0 Cont|:898 Cont_end|:0" },
	{ 899, { 9, 20, -1 }, "FN|:9 Cont|:10 Cont|:878 Cont_end|:0" },
	{ 900, { 899, -1 }, "FN[0]:899 Cont|:0 Cont_end|:0 FN_end|:0" },
	{ 900, { 0, -1 }, "FN[0]:0 Cont|:899 Cont_end|:0 FN_end|:0" },
	{ 901, { 899, -1 }, "FN[0]:899 Cont|:1 Cont_end|:0 FN_end|:0" },
	{ 901, { 900, -1 }, "FN[0]:900 Cont|:0 Cont_end|:0 FN_end|:0" },
	{ 902, { 900, -1 }, "FN[0]:900 Cont|:1 Cont_end|:0 FN_end|:0" },
	{ 902, { 901, -1 }, "FN[0]:900 FN[1]:1 Cont|:0 Cont_end|:0 FN_end|:0" },
	{ 1801, { 0, -1 }, "FN[0]:0 Cont|:900 Cont_end|:0 FN[1]:900 FN_end|:0" },
	{ 1801, { 900, -1 }, "FN[0]:900 Cont|:900 Cont_end|:0 FN_end|:0" },
	{ 1801, { 899, -1 }, "FN[0]:899 Cont|:900 Cont_end|:0 FN[1]:1 FN_end|:0" },
	{ 1801, { 1800, -1 }, "FN[0]:900 FN[1]:900 Cont|:0 Cont_end|:0 FN_end|:0" },
	{ 1801, { 1799, 1800, -1 }, "FN[0]:900 FN[1]:899 Cont|:0 Cont|:0 Cont_end|:0 FN_end|:0" },
};

static const struct row arg_rows[] = {
	{ 0, { -1 }, "" },
	{ 899, { -1 }, "A[7]:899" },
	{ 900, { -1 }, "A[7]:900" },
	{ 901, { -1 }, "A[7]:900 A[7]:1" },
	{ 1801, { -1 }, "A[7]:900 A[7]:900 A[7]:1" },
	{ 1, { 0, -1 }, "A[7]:0 Cont|:0 Cont_end|:0" },
	{ 900, { 899, -1 }, "A[7]:899 Cont|:0 Cont_end|:0" },
	{ 901, { 900, -1 }, "A[7]:900 Cont|:0 Cont_end|:0" },
	{ 1801, { 0, -1 }, "A[7]:0 Cont|:900 Cont_end|:0 A[7]:900" },
};

/* Make a text in which each byte but the newlines differs from its neighbours. */
static struct text make(const struct row *row, char bytes[static MANY])
{
	for (size_t i = 0; i < row->len; i++)
		bytes[i] = (char)('a' + i % 23);
	for (size_t i = 0; row->newlines[i] >= 0; i++)
		bytes[row->newlines[i]] = '\n';
	return text_of(bytes, row->len);
}

/*
 * Put the heads and lengths of @lines into @out. Check that their bytes are those of @text, and
 * that times rise.
 */
static void describe(const struct strbuf *lines, const struct text *text, struct strbuf *out)
{
	struct text left = text_of(lines->data, lines->len);
	struct strbuf joined cleanup_strbuf = { 0 };
	struct text line;
	uint64_t number;
	uint64_t ns = 7;
	bool is_whole;

	while (text_line(&left, &line, &is_whole)) {
		const char *head;

		assert_true(is_whole);
		assert_true(text_word(&line, "0: 17,0,5,") && text_dec(&line, &number));
		assert_int_equal(number, ns++);
		assert_true(text_word(&line, "!"));
		head = line.at;
		while (*line.at != '|' && *line.at != ']')
			line.at++;
		line.at++;
		assert_true(text_left(&line) <= ETRACE_PART);
		strbuf_addf(out, "%s%.*s:%zu", out->len ? " " : "", (int)(line.at - head), head,
			    text_left(&line));
		if (memcmp(head, "Cont|", 5) == 0)
			strbuf_addch(&joined, '\n');
		strbuf_add(&joined, line.at, text_left(&line));
	}
	assert_int_equal(joined.len, text_left(text));
	assert_memory_equal(strbuf_str(&joined), text->at, joined.len);
}

static void check(const struct row *row, bool is_arg)
{
	char bytes[MANY];
	struct text text = make(row, bytes);
	struct strbuf out cleanup_strbuf = { 0 };
	struct strbuf said cleanup_strbuf = { 0 };
	struct etrace_lines lines = { .out = &out };

	etrace_begin(&lines, 17, 0, 5000000007);
	if (is_arg)
		etrace_put_arg(&lines, 7, text);
	else
		etrace_put_text(&lines, "FN", text);
	describe(&out, &text, &said);
	assert_string_equal(strbuf_str(&said), row->lines);
}

TEST(test_texts)
{
	for (size_t i = 0; i < ARRAY_SIZE(text_rows); i++)
		check(&text_rows[i], false);
}

/* Variables are numbered even if they are short, except in the published form of the format. */
TEST(test_variables)
{
	char *bare = "17,0,0,1!Env|A=\n";
	char *other = "0: 17,0,0,1!Env[0]A=\n0: 17,0,0,2!Cont|b\n0: 17,0,0,3!Cont_end|\n";
	struct strbuf out cleanup_strbuf = { 0 };
	struct etrace_lines lines = { .out = &out, .is_bare = true };

	etrace_begin(&lines, 17, 0, 1);
	etrace_put_variable(&lines, text_of("A=", 2));
	assert_string_equal(strbuf_str(&out), bare);
	strbuf_reset(&out);
	lines = (struct etrace_lines){ .out = &out };
	etrace_begin(&lines, 17, 0, 1);
	etrace_put_variable(&lines, text_of("A=\nb", 4));
	assert_string_equal(strbuf_str(&out), other);
}

TEST(test_arguments)
{
	for (size_t i = 0; i < ARRAY_SIZE(arg_rows); i++)
		check(&arg_rows[i], true);
}

/*
 * Texts of about one and about two full lines, with a newline at each place near a cut. All bytes
 * come out unchanged.
 */
TEST(test_edges)
{
	static const size_t lengths[] = { 899, 900, 901, 1799, 1800, 1801 };

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (int at = 890; at < 910 && (size_t)at < lengths[i]; at++) {
			struct row row = { lengths[i], { at, -1 }, NULL };
			char bytes[MANY];
			struct text text = make(&row, bytes);
			struct strbuf out cleanup_strbuf = { 0 };
			struct strbuf said cleanup_strbuf = { 0 };
			struct etrace_lines lines = { .out = &out };

			etrace_begin(&lines, 17, 0, 5000000007);
			etrace_put_text(&lines, "FN", text);
			describe(&out, &text, &said);
		}
	}
}

/* No two lines have the same time, even if two events have. */
TEST(test_times)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct etrace_lines lines = { .out = &out, .is_bare = true };

	etrace_begin(&lines, 1, 0, 3999999999);
	etrace_put(&lines, "Close|fd=%d", 3);
	etrace_put(&lines, "Close|fd=%d", 4);
	etrace_begin(&lines, (uint64_t)INT64_MAX, 12, 3999999999);
	etrace_put(&lines, "Close|fd=%d", -100);
	etrace_begin(&lines, 1, 0, 5000000000);
	etrace_put_text(&lines, "FN", text_of("\xff\x80 \xc3\xa9", 5));
	assert_string_equal(strbuf_str(&out), "1,0,3,999999999!Close|fd=3\n"
					      "1,0,4,0!Close|fd=4\n"
					      "9223372036854775807,12,4,1!Close|fd=-100\n"
					      "1,0,5,0!FN|\xff\x80 \xc3\xa9\n");
}
