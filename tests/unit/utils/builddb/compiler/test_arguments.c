/* Response files: quoting, files that name files, circles, missing files. */
#include "tests/unit/lib/unit.h"

#include <unistd.h>

#include "utils/base/compiler.h"
#include "utils/base/fd.h"
#include "utils/base/outfile.h"
#include "utils/builddb/compiler/arguments.h"

static char dir[64];

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/utrail-unit-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	static const char *const names[] = { "a", "b", "circle" };
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

static void put(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(outfile_put(path, text, strlen(text), NULL), 0);
}

/* Check that the words of @line (separated by blanks) become those of @right (separated by '|'). */
static void check(const char *line, const char *right, size_t unread)
{
	struct words args cleanup_words = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	struct arguments_read read;

	assert_int_equal(words_add(&args, line, NULL), 0);
	assert_int_equal(arguments_expand(&args, dir, &read), 0);
	for (size_t i = 0; i < args.nr; i++)
		strbuf_addf(&text, "%s%s", i ? "|" : "", args.words[i]);
	assert_string_equal(strbuf_str(&text), right);
	assert_int_equal(read.nr_unread, unread);
	assert_null(args.nr ? args.words[args.nr] : NULL);
}

TEST(words_of_files)
{
	put("a", " -c\t\"two words\"\n'it\\'s' a\\ b \\\"q\\\" -D'X=\"y\"' '' #\r\n");
	check("gcc @a", "gcc|-c|two words|it's|a b|\"q\"|-DX=\"y\"||#", 0);
}

TEST(files_name_files)
{
	put("a", "one @b three");
	put("b", "two");
	check("gcc @a @b", "gcc|one|two|three|two", 0);
	put("b", "");
	check("gcc @a", "gcc|one|three", 0);
}

TEST(what_is_not_there_stays)
{
	check("gcc @none -c @ @/none/x", "gcc|@none|-c|@|@/none/x", 2);
	/* The compiler's name is never read from a file. */
	check("@a x", "@a|x", 0);
}

TEST(circles_end)
{
	struct words args cleanup_words = { 0 };
	struct arguments_read read;

	put("circle", "x @circle");
	assert_int_equal(words_add(&args, "gcc @circle", NULL), 0);
	assert_int_equal(arguments_expand(&args, dir, &read), 0);
	assert_string_equal(args.words[1], "x");
	assert_string_equal(args.words[args.nr - 1], "@circle");
	assert_int_equal(read.nr_unread, 1);
	assert_int_equal(read.nr_tried, 1);
	put("a", "1 @b 2");
	put("b", "@a 3");
	check("gcc @a @a", "gcc|1|@a|3|2|1|@a|3|2", 2);
}

/* Many missing files have the same limit as files that name each other in a circle. */
TEST(what_is_not_there_counts)
{
	struct words args cleanup_words = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	struct arguments_read read;

	for (int i = 0; i < 3000; i++)
		strbuf_addstr(&text, "@none ");
	put("a", strbuf_str(&text));
	assert_int_equal(words_add(&args, "gcc @a @b", NULL), 0);
	assert_int_equal(arguments_expand(&args, dir, &read), 0);
	assert_int_equal(args.nr, 3002);
	assert_int_equal(read.nr_unread, 3001);
	assert_int_equal(read.nr_tried, 2000);
}

TEST_GROUP(make_dir, remove_dir)
