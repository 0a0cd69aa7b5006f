/* Files that are scripts, and the options in their first lines. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "utils/script/script.h"

static char path[] = "/tmp/utrail-script-XXXXXX.py";

static int setup(void **state)
{
	int fd = mkstemps(path, 3);

	assert_true(fd >= 0);
	close(fd);
	return 0;
}

static int teardown(void **state)
{
	unlink(path);
	return 0;
}

static void expect_options(const char *text, const char *options)
{
	struct strbuf out cleanup_strbuf = { 0 };
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(script_options(path, &out, NULL), 0);
	assert_string_equal(strbuf_str(&out), options);
}

TEST(options)
{
	expect_options("", "");
	expect_options("# uftrace-option: -A f@arg1", "-A f@arg1");
	expect_options(
		"#!/usr/bin/python3\n\n#uftrace-option:   -D 2 \r\n# uftrace-option: -R f\nx = 1\n",
		"-D 2  -R f");
	expect_options("x = 1\n# uftrace-option: -D 2\n", "");
	expect_options("-- uftrace-option: -D 2\n", "");
}

TEST(files)
{
	struct uft_err err = { 0 };

	assert_int_equal(script_check(path, &err), 0);
	assert_int_equal(script_check("/tmp", &err), -EINVAL);
	err_clear(&err);
	assert_int_equal(script_check("/nosuch/file.py", &err), -ENOENT);
}

/* Note the reported lines, with a bar after each. */
static void note(void *self, const char *line)
{
	strbuf_addf(self, "%s|", line);
}

TEST(lines)
{
	struct strbuf out cleanup_strbuf = { 0 };
	const struct script_config config = { .tell = note, .self = &out };
	const struct script script = { .config = &config };

	script_tell(&script, "one\n\ttwo\n\nthree");
	assert_string_equal(strbuf_str(&out), "one|    two||three|");
}

TEST(wanted)
{
	const struct script_config config = { .path = "x.py", .match = MATCH_REGEX };
	struct script script cleanup_script = { .config = &config };
	struct uft_err err = { 0 };

	assert_int_equal(script_want(&script, "^a", 2, &err), 0);
	assert_int_equal(script_want(&script, "a(", 2, &err), -EINVAL);
	assert_non_null(strstr(err.text, "UFTRACE_FUNCS of 'x.py'"));
	assert_int_equal(script.nr_wanted, 1);
}

TEST_GROUP(setup, teardown)
