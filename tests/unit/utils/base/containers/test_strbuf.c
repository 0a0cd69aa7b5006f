/* The growing string: appending, numbers, zero bytes, and its state after memory ran short. */
#include "tests/unit/lib/unit.h"

#include "utils/base/containers/strbuf.h"

TEST(append)
{
	struct strbuf sb cleanup_strbuf = { 0 };

	assert_string_equal(strbuf_str(&sb), "");
	strbuf_addstr(&sb, "ab");
	strbuf_addch(&sb, 'c');
	strbuf_addchars(&sb, '-', 3);
	strbuf_addf(&sb, "%d/%s", 7, "x");
	assert_string_equal(strbuf_str(&sb), "abc---7/x");
	assert_int_equal(sb.len, 9);
	strbuf_reset(&sb);
	assert_string_equal(strbuf_str(&sb), "");
	strbuf_add(&sb, "a\0b", 3);
	assert_int_equal(sb.len, 3);
	assert_memory_equal(sb.data, "a\0b", 4);
	assert_false(strbuf_oom(&sb));
}

TEST(cut)
{
	struct strbuf sb cleanup_strbuf = { 0 };

	strbuf_cut(&sb, 0);
	strbuf_addstr(&sb, "abc");
	strbuf_cut(&sb, 3);
	strbuf_cut(&sb, sb.len - 4);
	assert_string_equal(strbuf_str(&sb), "abc");
	strbuf_cut(&sb, 1);
	assert_string_equal(strbuf_str(&sb), "a");
	assert_int_equal(sb.len, 1);
}

TEST(decimal)
{
	static const struct {
		uint64_t value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 9, "9" },
		{ 10, "10" },
		{ 1234567890, "1234567890" },
		{ UINT64_MAX, "18446744073709551615" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf sb cleanup_strbuf = { 0 };

		strbuf_addu64(&sb, cases[i].value);
		assert_string_equal(strbuf_str(&sb), cases[i].text);
	}
}

TEST(every_length)
{
	struct strbuf all cleanup_strbuf = { 0 };

	for (size_t len = 0; len < 700; len++) {
		struct strbuf sb cleanup_strbuf = { 0 };

		strbuf_addf(&sb, "%0*d", (int)len, 0);
		assert_int_equal(strlen(strbuf_str(&sb)), len ? len : 1);
		strbuf_addch(&all, 'x');
		assert_int_equal(strlen(all.data), len + 1);
	}
}

TEST(too_much_is_remembered)
{
	struct strbuf sb cleanup_strbuf = { 0 };

	strbuf_addstr(&sb, "kept");
	assert_false(strbuf_grow(&sb, SIZE_MAX - 2));
	assert_true(strbuf_oom(&sb));
	strbuf_addstr(&sb, "more");
	strbuf_addf(&sb, "%s", "more");
	assert_string_equal(strbuf_str(&sb), "kept");
}

TEST(list)
{
	struct strbuf sb cleanup_strbuf = { 0 };
	struct strbuf words cleanup_strbuf = { 0 };

	assert_null(strbuf_list_next(&sb, NULL));
	assert_false(strbuf_list_has(&sb, ""));
	strbuf_list_add(&sb, "one");
	strbuf_list_add(&sb, "");
	strbuf_list_add(&sb, "three");
	strbuf_list_each (&sb, at)
		strbuf_addf(&words, "[%s]", at);
	assert_string_equal(strbuf_str(&words), "[one][][three]");
	assert_true(strbuf_list_has(&sb, "three"));
	assert_true(strbuf_list_has(&sb, ""));
	assert_false(strbuf_list_has(&sb, "on"));
	assert_false(strbuf_list_has(&sb, "hree"));
}
