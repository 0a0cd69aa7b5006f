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

static unsigned nr_called;

static void end_in_batch(struct script *script)
{
	script->is_over = true;
}

static void count_call(struct script *script, const struct script_call *call)
{
	nr_called++;
}

static int give_number(struct script *script, const struct func *func, struct script_func *known)
{
	return 0;
}

static void forget(struct script *script, struct script_func *func)
{
}

static void end_language(struct script *script)
{
}

/* A script that ends itself in a batch gets no further calls. */
TEST(a_batch_may_end_the_script)
{
	static const struct script_lang lang = {
		.close = end_language,
		.drop_func = forget,
		.call = count_call,
		.number = give_number,
		.batch = end_in_batch,
	};
	const struct script_config config = { .path = "x.py" };
	const struct func func = { .name = "f", .name_len = 1 };
	const struct task task = { .tid = 100 };
	struct event event = { .type = EVENT_EXIT, .func = &func };
	const struct event_span span = { .task = &task, .events = &event, .nr = 1 };
	struct script script cleanup_script = {
		.config = &config,
		.lang = &lang,
		.has = { [SCRIPT_EXIT] = true },
		.batch = calloc(1, sizeof(*script.batch)),
	};

	assert_non_null(script.batch);
	script.batch->nr = SCRIPT_BATCH_MAX - 2;
	assert_int_equal(script_events(&script, &span, NULL), 0);
	assert_int_equal(nr_called, 1);
	assert_int_equal(script_events(&script, &span, NULL), -ECANCELED);
	assert_int_equal(nr_called, 1);
}

TEST_GROUP(setup, teardown)
