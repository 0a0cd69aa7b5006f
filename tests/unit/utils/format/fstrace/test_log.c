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

/* --- lines --- */

static void check_line(const char *text, size_t wrong_at, const char *wrong)
{
	char *copy = exact_copy(text, strlen(text));
	struct fst_line line;
	size_t at = 0;
	const char *got = fst_line_parse(copy, strlen(text), &line, &at);

	assert_int_equal(got != NULL, wrong != NULL);
	if (wrong) {
		assert_string_equal(got, wrong);
		assert_int_equal(at, wrong_at);
	}
	free(copy);
}

TEST(test_times)
{
	static const struct {
		const char *time;
		int64_t us;
	} cases[] = {
		{ "1970-01-01 00:00:00.000000", 0 },
		{ "1969-12-31 23:59:59.999999", -1 },
		{ "1970-01-01 00:00:01.000001", 1000001 },
		{ "1970-01-01 00:01:00.000000", 60000000 },
		{ "1970-01-01 23:59:59.000000", 86399000000 },
		{ "1970-02-01 00:00:00.000000", 2678400000000 },
		{ "1970-12-31 00:00:00.000000", 31449600000000 },
		{ "1972-02-29 00:00:00.000000", 68169600000000 },
		{ "1972-03-01 00:00:00.000000", 68256000000000 },
		{ "1999-12-31 23:59:59.999999", 946684799999999 },
		{ "2000-02-29 12:00:00.000000", 951825600000000 },
		{ "2000-03-01 00:00:00.000000", 951868800000000 },
		{ "2026-11-23 09:30:01.000042", 1795426201000042 },
		{ "2100-03-01 00:00:00.000000", 4107542400000000 },
		{ "1900-03-01 00:00:00.000000", -2203891200000000 },
		{ "1600-02-29 00:00:00.000000", -11670998400000000 },
		{ "0001-01-01 00:00:00.000000", -62135596800000000 },
		{ "0000-12-31 00:00:00.000000", -62135683200000000 },
		{ "0000-02-29 00:00:00.000000", -62162121600000000 },
		{ "0000-01-01 00:00:00.000000", -62167219200000000 },
		{ "9999-12-31 23:59:59.999999", 253402300799999999 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fst_line line;
		char text[64];
		size_t at;

		snprintf(text, sizeof(text), "%s A b c", cases[i].time);
		assert_null(fst_line_parse(text, strlen(text), &line, &at));
		assert_int_equal(line.time_us, cases[i].us);
		assert_int_equal(line.id_len, 1);
		assert_memory_equal(line.id, "A", 1);
		assert_int_equal(line.body_len, 3);
		assert_memory_equal(line.body, "b c", 3);
	}
}

TEST(test_wrong_times)
{
	static const char month[] = "there is no such month";
	static const char day[] = "there is no such day in this month";

	check_line("2026-00-23 09:30:01.000042 A ", 5, month);
	check_line("2026-13-23 09:30:01.000042 A ", 5, month);
	check_line("2026-12-23 09:30:01.000042 A ", 0, NULL);
	check_line("2026-01-00 09:30:01.000042 A ", 8, day);
	check_line("2026-01-31 09:30:01.000042 A ", 0, NULL);
	check_line("2026-01-32 09:30:01.000042 A ", 8, day);
	check_line("2026-02-29 09:30:01.000042 A ", 8, day);
	check_line("2024-02-29 09:30:01.000042 A ", 0, NULL);
	check_line("2024-02-30 09:30:01.000042 A ", 8, day);
	check_line("1900-02-29 09:30:01.000042 A ", 8, day);
	check_line("2000-02-29 09:30:01.000042 A ", 0, NULL);
	check_line("2026-03-31 09:30:01.000042 A ", 0, NULL);
	check_line("2026-04-31 09:30:01.000042 A ", 8, day);
	check_line("2026-06-31 09:30:01.000042 A ", 8, day);
	check_line("2026-09-31 09:30:01.000042 A ", 8, day);
	check_line("2026-11-31 09:30:01.000042 A ", 8, day);
	check_line("2026-11-23 23:59:59.999999 A ", 0, NULL);
	check_line("2026-11-23 24:30:01.000042 A ", 11, "there is no such hour");
	check_line("2026-11-23 09:60:01.000042 A ", 14, "there is no such minute");
	check_line("2026-11-23 09:30:60.000042 A ", 17, "there is no such second");
}

/* One byte of the time at a time is wrong, or the line ends before it. */
TEST(test_shape_of_times)
{
	for (size_t i = 0; i < strlen(TIME) - 1; i++) {
		char text[] = TIME "A ";

		text[i] = text[i] == '-' ? ' ' : '/';
		check_line(text, i, "expected a time of the form YYYY-MM-DD hh:mm:ss.dddddd");
		text[i] = ':';
		if (TIME[i] != ':')
			check_line(text, i,
				   "expected a time of the form YYYY-MM-DD hh:mm:ss.dddddd");
		strcpy(text, TIME "A ");
		text[i] = '\0';
		check_line(text, i, "the line ends within the time");
	}
}

TEST(test_names_and_texts)
{
	static const char unprintable[] = "a byte that is not printable ASCII";

	check_line("2026-11-23 09:30:01.000042", 26, "expected a blank after the time");
	check_line("2026-11-23 09:30:01.000042A b", 26, "expected a blank after the time");
	check_line(TIME, 27, "expected the name of an event after the time");
	check_line(TIME " A", 27, "expected the name of an event after the time");
	check_line(TIME "A", 28, "expected a blank after the event's name");
	check_line(TIME "!~ ", 0, NULL);
	check_line(TIME "A\177 ", 28, "a byte that is not printable ASCII in the event's name");
	check_line(TIME "AB\tc", 29, "a byte that is not printable ASCII in the event's name");
	check_line(TIME "A  ~!", 0, NULL);
	check_line(TIME "A b\x1f", 30, unprintable);
	check_line(TIME "A b\177c", 30, unprintable);
	check_line(TIME "A \200", 29, unprintable);
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
	check_words("PID=1", 1, false, 0);
	check_words("PID=12 ", 12, false, 0);
	check_words("PID=12 TID=", 12, false, 0);
	check_words("PID=12 TID=x", 12, false, 0);
	check_words("PID=12 TID=5x", 12, false, 0);
	check_words("PID=12 TID=0", 12, true, 0);
	check_words("TID=5 TID=6 PID=1", 1, true, 6);
	check_words("TID=5", 0, false, 0);
	check_words("PID=1 TID=18446744073709551615", 1, true, UINT64_MAX);
	check_words("PID=1 TID=18446744073709551616", 1, false, 0);
	check_words("PID=1 TID=18446744073709551620", 1, false, 0);
	check_words("PID=1 TID=99999999999999999999", 1, false, 0);
	check_words("PID=/ ", 0, false, 0);
	check_words("PID=: ", 0, false, 0);
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

/* Each message, with its place. A thread without a process is no origin. */
TEST(test_messages_of_formats)
{
	static const struct {
		const char *format;
		const char *body;
		const char *wrong;
		size_t at;
		int32_t pid;
		bool has_thread;
	} cases[] = {
		{ "[%P]", "{12]", "expected the text of the common format here", 0, 0, false },
		{ "[%P]", "[12)", "expected the text of the common format here", 3, 12, false },
		{ "[%P] ", "[12]", "expected the text of the common format here", 3, 12, false },
		{ "%P", "4194304", NULL, 7, 4194304, false },
		{ "%P", "4194305", "expected the number of a process, as in the common format", 7,
		  0, false },
		{ "%T", "x", "expected the number of a thread, as in the common format", 0, 0,
		  false },
		{ "%T", "5", NULL, 1, 0, false },
		{ "%T %P", "5 6", NULL, 3, 6, true },
		{ "%P:%L", "5:x", "expected the number of a line, as in the common format", 2, 5,
		  false },
		{ "%P:%L", "5:7x", "expected a blank after the values of the common format", 3, 5,
		  false },
		{ "%P:%L", "5:7 x", NULL, 3, 5, false },
		{ "%F|%P", "a b|5", "expected the text of the common format here", 1, 0, false },
		{ "%F|%P", "|5", NULL, 2, 5, false },
		{ "%P %F", "5 a.c x", NULL, 5, 5, false },
		{ "%P %F", "5 a.c", NULL, 5, 5, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fst_format *common = fst_format_make(cases[i].format);
		size_t len = strlen(cases[i].body);
		char *copy = exact_copy(cases[i].body, len);
		struct fst_origin origin;
		size_t at;
		const char *wrong = fst_origin_by_format(common, copy, len, &origin, &at);

		assert_int_equal(wrong != NULL, cases[i].wrong != NULL);
		if (wrong)
			assert_string_equal(wrong, cases[i].wrong);
		assert_int_equal(at, cases[i].at);
		assert_int_equal(origin.pid, cases[i].pid);
		assert_int_equal(origin.has_thread, cases[i].has_thread);
		free(copy);
		fst_format_free(common);
	}
}

/* A name is that of an old file only if each byte of its stamp fits, and if it has a prefix. */
TEST(test_stamps)
{
	struct fst_log log;
	char *old = strdup(OLD);
	char newest[] = "x.log";
	char *paths[] = { old, newest };

	fst_log_open(&log, paths, 2);
	assert_int_equal(log.nr_paths, 2);
	assert_int_equal(log.prefix_len, 1);
	fst_log_close(&log);
	for (char *at = old + 1; *at != '.' || at[1] != 'l'; at++) {
		char right = *at;
		static const char wrong[] = "/:x";

		for (const char *w = wrong; *w; w++) {
			*at = *w;
			if (*w == right)
				continue;
			fst_log_open(&log, paths, 2);
			assert_int_equal(log.nr_paths, 1);
			assert_int_equal(log.prefix_len, strlen(OLD) - 4);
			fst_log_close(&log);
		}
		*at = right;
	}
	/* Without a prefix, the stamp is a part of the name. */
	paths[0] = old + 1;
	fst_log_open(&log, paths, 1);
	assert_int_equal(log.prefix_len, strlen(OLD) - 5);
	fst_log_close(&log);
	free(old);
}

/* Any order of the files gives the same sorted list. */
TEST(test_any_order)
{
	static const char *const sorted[] = { "a.log",	"x",	OLDER,	     OLD,      "x.log",
					      "x-" OLD, "x.lo", "x.log.log", "xy.log", "xy-" OLD };
	enum {
		NR = ARRAY_SIZE(sorted)
	};
	uint64_t seed = 3;

	for (int round = 0; round < 200; round++) {
		char *paths[NR];

		for (int i = 0; i < NR; i++)
			paths[i] = (char *)sorted[i];
		for (int i = NR - 1; i > 0; i--) {
			int k = unit_random(&seed) % (i + 1);
			char *path = paths[i];

			paths[i] = paths[k];
			paths[k] = path;
		}
		fst_log_sort(paths, NR);
		for (int i = 0; i < NR; i++)
			assert_string_equal(paths[i], sorted[i]);
	}
}

/*
 * After a line that is too long, the next line is read as usual, even if the long line is longer
 * than the buffer.
 */
TEST(test_long_and_many_lines)
{
	static const size_t lens[] = { FST_LOG_LINE_MAX + 1, 4 * FST_LOG_LINE_MAX,
				       9 * FST_LOG_LINE_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		struct strbuf text cleanup_strbuf = { 0 };
		struct fst_log_line line;
		struct fst_log log;
		char *path;

		strbuf_addchars(&text, 'x', lens[i]);
		strbuf_addch(&text, '\n');
		for (unsigned k = 0; k < 6000; k++)
			strbuf_addf(&text, "2026-11-23 09:30:01.%06u A the line with number %u\n",
				    k, k);
		path = write_file("x.log", text.data, text.len);
		fst_log_open(&log, &path, 1);
		assert_int_equal(fst_log_next(&log, &line, NULL), 1);
		assert_string_equal(line.wrong, "the line is longer than 65536 bytes");
		assert_int_equal(line.wrong_at, FST_LOG_LINE_MAX);
		assert_int_equal(line.number, 1);
		for (unsigned k = 0; k < 6000; k++) {
			assert_int_equal(fst_log_next(&log, &line, NULL), 1);
			assert_null(line.wrong);
			assert_int_equal(line.number, k + 2);
			assert_int_equal(line.parts.time_us % 1000000, k);
		}
		assert_int_equal(fst_log_next(&log, &line, NULL), 0);
		fst_log_close(&log);
		assert_null(log.buf);
		assert_int_equal(log.fd, -1);
		remove_file(path);
	}
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
