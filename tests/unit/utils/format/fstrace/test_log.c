/* Logs in several files, and the process and thread of each line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/lib/unit.h"

#include "utils/base/containers/strbuf.h"
#include "utils/format/fstrace/log.h"
#include "utils/format/fstrace/origin.h"

#define OLD   "x-2026-11-23T09:30:01.000000.log"
#define OLDER "x-2025-12-31T23:59:59.999999.log"

TEST(test_order)
{
	char *paths[] = { "x.log", "y",	      "x.log.1", OLD,
			  "x",	   "a/x.log", OLDER,	 "x-2026-11-23T09:30:01.00000.log" };
	char *expected[] = { "a/x.log", "x", OLDER, OLD, "x.log", "x-2026-11-23T09:30:01.00000.log",
			     "x.log.1", "y" };
	static const size_t sizes[] = { 1, 1, 3, 1, 1, 1 };
	struct fst_log log;
	size_t at = 0;

	fst_log_sort(paths, 8);
	for (size_t i = 0; i < 8; i++)
		assert_string_equal(paths[i], expected[i]);
	for (size_t i = 0; i < 6; i++) {
		fst_log_open(&log, paths + at, 8 - at);
		assert_int_equal(log.nr_paths, sizes[i]);
		at += log.nr_paths;
		fst_log_close(&log);
	}
	assert_int_equal(at, 8);
	fst_log_sort(paths, 0);
}

static char dir[] = "/tmp/utrail-log-XXXXXX";

static char *write_file(const char *name, const char *text, size_t len)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
	return strdup(path);
}

static void remove_file(char *path)
{
	unlink(path);
	free(path);
}

#define TIME "2026-11-23 09:30:01.000042 "

TEST(test_lines)
{
	char *text = malloc(300000);
	struct fst_log log;
	struct fst_log_line line;
	struct uft_err err = { 0 };
	char *paths[2];

	/*
	 * Lines that are too long, a line of the greatest length, and a short line; then a line
	 * without an end.
	 */
	memset(text, 'x', 300000);
	text[250000] = '\n';
	paths[0] = write_file(OLD, text, 250001);
	memcpy(text, TIME "A ", 29);
	text[FST_LOG_LINE_MAX] = '\n';
	memcpy(text + FST_LOG_LINE_MAX + 1, TIME "B b\n" TIME "C c", 61);
	paths[1] = write_file("x.log", text, FST_LOG_LINE_MAX + 1 + 61);

	fst_log_open(&log, paths, 2);
	assert_int_equal(log.nr_paths, 2);
	assert_int_equal(fst_log_next(&log, &line, &err), 1);
	assert_int_equal(line.number, 1);
	assert_string_equal(line.path, paths[0]);
	assert_string_equal(line.wrong, "the line is longer than 65536 bytes");
	assert_int_equal(fst_log_next(&log, &line, &err), 1);
	assert_string_equal(line.path, paths[1]);
	assert_int_equal(line.number, 1);
	assert_null(line.wrong);
	assert_int_equal(line.parts.body_len, FST_LOG_LINE_MAX - 29);
	assert_int_equal(fst_log_next(&log, &line, &err), 1);
	assert_null(line.wrong);
	assert_memory_equal(line.parts.id, "B b", 3);
	assert_int_equal(fst_log_next(&log, &line, &err), 1);
	assert_int_equal(line.number, 3);
	assert_string_equal(line.wrong, "the line has no end");
	assert_int_equal(line.wrong_at, 30);
	assert_int_equal(fst_log_next(&log, &line, &err), 0);
	assert_int_equal(fst_log_next(&log, &line, &err), 0);
	fst_log_close(&log);
	remove_file(paths[0]);
	remove_file(paths[1]);
	paths[0] = strdup("/nowhere/x.log");
	fst_log_open(&log, paths, 1);
	assert_true(fst_log_next(&log, &line, &err) < 0);
	assert_non_null(strstr(err.text, "/nowhere/x.log"));
	fst_log_close(&log);
	free(paths[0]);
	free(text);
}

static void check_words(const char *body, int32_t pid, bool has_thread, uint64_t thread)
{
	struct fst_origin origin;

	fst_origin_find(body, strlen(body), &origin);
	assert_int_equal(origin.pid, pid);
	assert_int_equal(origin.has_thread, has_thread);
	assert_int_equal(origin.thread, thread);
}

TEST(test_words)
{
	check_words("PID=12 UID=3", 12, false, 0);
	check_words("PID=12", 12, false, 0);
	check_words("PID=4194304 TID=139872034 X", 4194304, true, 139872034);
	check_words("TID=7 PID=12", 12, true, 7);
	check_words("TID=7 X=1 PID=12", 0, false, 0);
	check_words("X=1 PID=12", 0, false, 0);
	check_words("PID=12 PID=13", 12, false, 0);
	check_words("PID=0", 0, false, 0);
	check_words("PID=4194305", 0, false, 0);
	check_words("PID=99999999999999999999999", 0, false, 0);
	check_words("PID=12x", 0, false, 0);
	check_words("PID=", 0, false, 0);
	check_words("PID=-1", 0, false, 0);
	check_words("PID", 0, false, 0);
	check_words("", 0, false, 0);
}

/* @at: the place of the error; -1: none */
static void check_format(const char *format, const char *body, int at, int32_t pid, uint64_t thread)
{
	struct fst_format *common = fst_format_make(format);
	struct fst_origin origin;
	size_t wrong_at;
	const char *wrong = fst_origin_by_format(common, body, strlen(body), &origin, &wrong_at);

	if (at >= 0) {
		assert_non_null(wrong);
		assert_int_equal(wrong_at, at);
	} else {
		assert_null(wrong);
		assert_int_equal(origin.pid, pid);
		assert_int_equal(origin.thread, thread);
	}
	fst_format_free(common);
}

TEST(test_formats)
{
	check_format("[%P] %T", "[12] 139872034 A=1", -1, 12, 139872034);
	check_format("%F:%L %e %P", "a.c:12 ENOENT 77 X", -1, 77, 0);
	check_format("%F:%L %e %P", "a.c:12 0 77", -1, 77, 0);
	check_format("%P%%", "12% x", -1, 12, 0);
	check_format("none", "none x", -1, 0, 0);
	check_format("%P", "x", 0, 0, 0);
	check_format("%P", "0 x", 1, 0, 0);
	check_format("[%P]", "[12", 3, 0, 0);
	check_format("%P", "12x", 2, 0, 0);
	check_format("%P %T", "12 x", 3, 0, 0);
	check_format("%L", "x", 0, 0, 0);
	check_format("%P", "", 0, 0, 0);
}

int main(void)
{
	int failed;

	if (!mkdtemp(dir))
		return 1;
	failed = unit_run();
	rmdir(dir);
	return failed;
}
