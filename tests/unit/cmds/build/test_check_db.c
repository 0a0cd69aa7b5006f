/* compile_commands.json: valid ones, invalid ones, and one cut at every place. */
#include "tests/unit/lib/unit.h"

#include "cmds/build/check_db.h"

/*
 * Returns "DIRECTORY FILE [WORD][WORD]", a line each; or "at N" with the position of the wrong
 * byte.
 */
static const char *parsed(const char *data, size_t len)
{
	static char out[512];
	struct check_db db cleanup_check_db = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };
	char *copy cleanup_free = exact_copy(data, len);

	if (check_db_parse("x", copy, len, &db, &err) < 0)
		strbuf_addf(&text, "at%s", strrchr(err.text, ' '));
	for (size_t i = 0; err.code == 0 && i < db.nr; i++) {
		const struct check_entry *entry = &db.entries[i];

		strbuf_addf(&text, "%s %s ", entry->directory, entry->file);
		for (size_t j = 0; j < entry->argv.nr; j++)
			strbuf_addf(&text, "[%s]", entry->argv.words[j]);
		strbuf_addch(&text, '\n');
	}
	snprintf(out, sizeof(out), "%s", strbuf_str(&text));
	return out;
}

#define PARSED(text) parsed(text, strlen(text))

#define HEAD "[{\"directory\":\"/d\",\"file\":\"f\","

TEST(right)
{
	assert_string_equal(PARSED("[]"), "");
	assert_string_equal(PARSED(" [ ] "), "");
	assert_string_equal(PARSED(HEAD "\"command\":\"cc -D'a b' \\\"c\\\\\\\"d\\\" ;x $y\"}]"),
			    "/d f [cc][-Da b][c\"d][;x][$y]\n");
	assert_string_equal(PARSED(HEAD
				   "\"arguments\":[\"cc\", \"a b\",\"\"]},\n"
				   "{\"arguments\":[\"cc\"],\"x\":[{\"y\":[-1.5e+3,null,{}]},[]],"
				   "\"file\":\"\\u0041\\u00e4\\u20ac\\ud83d\\ude00\\/"
				   "\\n\",\"directory\":\"\"}]"),
			    "/d f [cc][a b][]\n A\u00e4\u20ac\U0001f600/\n [cc]\n");
}

TEST(wrong)
{
	assert_string_equal(PARSED("["), "at 2");
	assert_string_equal(PARSED(HEAD "\"command\":\"\"}]"), "at 44");
	assert_string_equal(PARSED(HEAD "\"arguments\":[]}]"), "at 46");
	assert_string_equal(PARSED(HEAD "\"command\":1}]"), "at 41");
	assert_string_equal(PARSED("[{\"file\":\"\\u0000\"}]"), "at 17");
	assert_string_equal(PARSED("[{\"file\":\"\\udc00\"}]"), "at 17");
	assert_string_equal(PARSED("[{\"file\":\"\\ud800\\u0041\"}]"), "at 23");
	assert_string_equal(PARSED("[{\"file\":\"\n\"}]"), "at 12");
	assert_string_equal(PARSED("[{\"file\":\"\\x\"}]"), "at 13");
}

TEST(cut)
{
	static const char all[] = HEAD
		"\"x\":[{\"\\ud83d\\ude00\":[true]}],\"arguments\":[\"cc\"]}]";
	size_t len = strlen(all);

	assert_string_equal(parsed(all, len), "/d f [cc]\n");
	for (size_t i = 0; i < len; i++)
		assert_memory_equal(parsed(all, i), "at ", 3);
}
