/* Escaping for the formats of other programs. */
#include "tests/unit/lib/unit.h"

#include "utils/view/texts.h"

static struct strbuf out;

static const char *with(void (*put)(struct strbuf *out, const char *text, size_t len),
			const char *text)
{
	char *copy = exact_copy(text, strlen(text));

	strbuf_reset(&out);
	put(&out, copy, strlen(text));
	free(copy);
	return strbuf_str(&out);
}

static void json(void **state)
{
	assert_string_equal(with(text_put_json, ""), "");
	assert_string_equal(with(text_put_json, "operator<<"), "operator<<");
	assert_string_equal(with(text_put_json, "a\"b\\c\nd\te\x01\x7f"),
			    "a\\\"b\\\\c\\nd\\te\\u0001\\u007f");
	assert_string_equal(with(text_put_json, "gr\xc3\xb6\xc3\x9f"), "gr\xc3\xb6\xc3\x9f");
}

static void bad_utf8(void **state)
{
#define BAD "\xef\xbf\xbd"
	assert_string_equal(with(text_put_utf8, "\xff"), BAD);
	assert_string_equal(with(text_put_utf8, "a\xc3"), "a" BAD);
	assert_string_equal(with(text_put_utf8, "\xc0\xaf"), BAD BAD);
	assert_string_equal(with(text_put_utf8, "\xed\xa0\x80"), BAD BAD BAD);
	assert_string_equal(with(text_put_utf8, "\xe2\x82\xac"), "\xe2\x82\xac");
	assert_string_equal(with(text_put_utf8, "\xe2\x82"), BAD BAD);
	assert_string_equal(with(text_put_utf8, "\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
	assert_string_equal(with(text_put_utf8, "\xf4\x90\x80\x80"), BAD BAD BAD BAD);
	assert_string_equal(with(text_put_utf8, "\xf0\x9f\x98"), BAD BAD BAD);
}

static void html(void **state)
{
	assert_string_equal(with(text_put_html, "a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
	assert_string_equal(with(text_put_html, "a\x02"), "a" BAD);
}

static void base64(void **state)
{
	static const char *const pairs[][2] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" },
		{ "\xff\xfe", "//4=" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		strbuf_reset(&out);
		text_put_base64(&out, pairs[i][0], strlen(pairs[i][0]));
		assert_string_equal(strbuf_str(&out), pairs[i][1]);
	}
}

static int teardown(void **state)
{
	strbuf_deinit(&out);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(json, teardown),
		cmocka_unit_test_teardown(bad_utf8, teardown),
		cmocka_unit_test_teardown(html, teardown),
		cmocka_unit_test_teardown(base64, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
