/* Text from other sources, escaped for each medium. */
#include "tests/unit/lib/unit.h"

#include "utils/base/escape.h"

#define BAD "\xef\xbf\xbd"

static struct strbuf out;

static const char *with(enum medium medium, const char *text)
{
	size_t len = strlen(text);
	char *copy = exact_copy(text, len);

	strbuf_reset(&out);
	escape_add(&out, medium, copy, len);
	/* A text that counts as plain is shown unchanged. */
	if (escape_is_plain(medium, copy, len))
		assert_true(out.len == len && memcmp(strbuf_str(&out), copy, len) == 0);
	free(copy);
	return strbuf_str(&out);
}

static int teardown(void **state)
{
	strbuf_deinit(&out);
	return 0;
}

TEST_WITH(terminal, NULL, teardown)
{
	assert_string_equal(with(MEDIUM_TERMINAL, ""), "");
	assert_string_equal(with(MEDIUM_TERMINAL, "operator<<(a \\ \"b\")"),
			    "operator<<(a \\ \"b\")");
	assert_string_equal(with(MEDIUM_TERMINAL, "a\n\t\r\x1b[31m\x7f"),
			    "a\\x0a\\x09\\x0d\\x1b[31m\\x7f");
	assert_string_equal(
		with(MEDIUM_TERMINAL, "gr\xc3\xb6\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
		"gr\xc3\xb6\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
	/* Control characters from 0x80 to 0x9f, as a byte and in UTF-8. The next one is shown. */
	assert_string_equal(with(MEDIUM_TERMINAL, "\x9b"
						  "1m"),
			    "\\x9b1m");
	assert_string_equal(with(MEDIUM_TERMINAL, "\xc2\x80\xc2\x9f\xc2\xa0"),
			    "\\xc2\\x80\\xc2\\x9f\xc2\xa0");
}

TEST_WITH(bidirectional, NULL, teardown)
{
	static const char *const hidden[] = {
		"\xd8\x9c",	"\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8",
		"\xe2\x80\xa9", "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6",
		"\xe2\x81\xa9", "\xef\xbf\xbe", "\xef\xbf\xbf",
	};
	static const char *const shown[] = {
		"\xd8\x9b",	"\xe2\x80\x8d", "\xe2\x80\x90", "\xe2\x80\xa7",
		"\xe2\x80\xaf", "\xe2\x81\xa5", "\xe2\x81\xaa", "\xef\xbf\xbd",
	};

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++) {
		char text[32] = "";

		for (const char *at = hidden[i]; *at; at++)
			sprintf(text + strlen(text), "\\x%02x", (uint8_t)*at);
		assert_string_equal(with(MEDIUM_TERMINAL, hidden[i]), text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		assert_string_equal(with(MEDIUM_TERMINAL, shown[i]), shown[i]);
}

TEST_WITH(no_utf8, NULL, teardown)
{
	assert_string_equal(with(MEDIUM_BINARY, "\xff"), BAD);
	assert_string_equal(with(MEDIUM_BINARY, "a\xc3"), "a" BAD);
	assert_string_equal(with(MEDIUM_BINARY, "\xc0\xaf"), BAD BAD);
	assert_string_equal(with(MEDIUM_BINARY, "\xed\xa0\x80"), BAD BAD BAD);
	assert_string_equal(with(MEDIUM_BINARY, "\xe2\x82\xac"), "\xe2\x82\xac");
	assert_string_equal(with(MEDIUM_BINARY, "\xe2\x82"), BAD BAD);
	assert_string_equal(with(MEDIUM_BINARY, "\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
	assert_string_equal(with(MEDIUM_BINARY, "\xf4\x90\x80\x80"), BAD BAD BAD BAD);
	assert_string_equal(with(MEDIUM_BINARY, "\xf0\x9f\x98"), BAD BAD BAD);
	assert_string_equal(with(MEDIUM_BINARY, "a\x1b\n"), "a\x1b\n");
	assert_string_equal(with(MEDIUM_TERMINAL, "\xe2\x82"), "\\xe2\\x82");
	assert_string_equal(with(MEDIUM_TERMINAL, "\xed\xa0\x80"), "\\xed\\xa0\\x80");
	assert_string_equal(with(MEDIUM_JSON, "\xff"), BAD);
}

TEST_WITH(languages, NULL, teardown)
{
	assert_string_equal(with(MEDIUM_JSON, "a\"b\\c\nd\te\x01\x7f<"),
			    "a\\\"b\\\\c\\nd\\te\\u0001\\u007f<");
	assert_string_equal(with(MEDIUM_JSON, "\xc2\x9b\xe2\x80\xae"), "\\u009b\\u202e");
	assert_string_equal(with(MEDIUM_SCRIPT, "</script>&\xe2\x80\xa8"),
			    "\\u003c/script\\u003e\\u0026\\u2028");
	assert_string_equal(with(MEDIUM_HTML, "a<b>&\"'\x02"), "a&lt;b&gt;&amp;&quot;&#39;\\x02");
	assert_string_equal(with(MEDIUM_DOT, "a\"];\\\n"), "a\\\"];\\\\\\\\x0a");
	assert_string_equal(with(MEDIUM_MERMAID, "a\"<#quot;%`"), "a#quot;&lt;#35;quot;#37;#96;");
	assert_string_equal(with(MEDIUM_CALLGRIND, "(12) a\n"), "\\x2812) a\\x0a");
	assert_string_equal(with(MEDIUM_CALLGRIND, "(anonymous)"), "(anonymous)");
	assert_string_equal(with(MEDIUM_FOLDED, "a;b\n"), "a:b\\x0a");
}

TEST_WITH(cells, NULL, teardown)
{
	assert_string_equal(with(MEDIUM_CSV, ""), "");
	assert_string_equal(with(MEDIUM_CSV, "f"), "f");
	assert_string_equal(with(MEDIUM_CSV, "f(a, b)"), "\"f(a, b)\"");
	assert_string_equal(with(MEDIUM_CSV, "say \"hi\""), "\"say \"\"hi\"\"\"");
	assert_string_equal(with(MEDIUM_CSV, "=cmd()"), "'=cmd()");
	assert_string_equal(with(MEDIUM_CSV, "-1+2,3"), "\"'-1+2,3\"");
	assert_string_equal(with(MEDIUM_CSV, "@x"), "'@x");
	assert_string_equal(with(MEDIUM_CSV, "a=b"), "a=b");
	assert_string_equal(with(MEDIUM_CSV, "\t=1\n"), "\\x09=1\\x0a");
}

TEST_WITH(cut, NULL, teardown)
{
	assert_int_equal(escape_cut("abc", 5), 3);
	assert_int_equal(escape_cut("abc", 3), 3);
	assert_int_equal(escape_cut("abcd", 3), 3);
	assert_int_equal(escape_cut("a\xe2\x82\xac", 3), 1);
	assert_int_equal(escape_cut("a\xe2\x82\xac", 4), 4);
	assert_int_equal(escape_cut("a\xe2\x82\xac"
				    "b",
				    4),
			 4);
	assert_int_equal(escape_cut("\xff\xff\xff", 2), 2);
	assert_int_equal(escape_cut("", 0), 0);
	assert_int_equal(escape_cut("a", 0), 0);
}
