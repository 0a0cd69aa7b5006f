/* Crash reports: one for each process, and the printed text. */
#include "tests/unit/lib/unit.h"

#include <signal.h>

#include "cmds/record/control/crash.h"

static const char *printed(const struct crash *list)
{
	static char text[1 << 18];
	struct msg msg = { .file = fmemopen(text, sizeof(text), "w") };

	assert_non_null(msg.file);
	text[0] = '\0';
	crashes_print(list, "/tmp/utrail-there-is-no-such-recording", &msg);
	fclose(msg.file);
	return text;
}

static const char *printed_alone(const struct control_crash *report)
{
	struct crash *list = NULL;
	const char *text;

	crash_keep(&list, report, 1);
	text = printed(list);
	crashes_destroy(list);
	return text;
}

TEST(nothing_happened)
{
	assert_string_equal(printed(NULL), "");
	crashes_destroy(NULL);
}

/* Only the first report of a process counts. Reports are printed in the order of their arrival. */
TEST(one_for_each_process)
{
	struct crash *list = NULL;
	struct control_crash report = { .tid = 11, .signal = SIGTERM };

	crash_keep(&list, &report, 1);
	report.tid = 12;
	crash_keep(&list, &report, 1);
	report.tid = 21;
	crash_keep(&list, &report, 2);
	report.tid = 13;
	crash_keep(&list, &report, 1);
	assert_string_equal(
		printed(list),
		"WARN: task 11 was ended by signal 15: Terminated; it was in no traced function\n"
		"WARN: task 21 was ended by signal 15: Terminated; it was in no traced "
		"function\n");
	crashes_destroy(list);
}

/* A thousand reports are kept; further ones are dropped. */
TEST(great_many)
{
	struct crash *list = NULL;
	const char *text;
	unsigned lines = 0;

	for (int pid = 1; pid <= 1002; pid++)
		crash_keep(&list, &(struct control_crash){ .tid = pid, .signal = 9 }, pid);
	text = printed(list);
	assert_non_null(strstr(text, "task 1 was"));
	assert_non_null(strstr(text, "task 1000 was"));
	assert_null(strstr(text, "task 1001 was"));
	for (; *text; text++)
		lines += *text == '\n';
	assert_int_equal(lines, 1000);
	crashes_destroy(list);
}

/* A signal that was not caused by a fault of the program has no address. */
TEST(addresses)
{
	struct control_crash report = { .tid = 1, .signal = SIGSEGV, .code = 1, .address = 0x10 };

	assert_string_equal(printed_alone(&report),
			    "WARN: task 1 was ended by signal 11: Segmentation fault at address "
			    "0x10; it was in no traced function\n");
	report.code = 0;
	assert_null(strstr(printed_alone(&report), "address"));
	report.code = -6;
	assert_null(strstr(printed_alone(&report), "address"));
	report.code = 1;
	report.signal = SIGABRT;
	assert_null(strstr(printed_alone(&report), "address"));
}

/*
 * The innermost frame comes first, with its running time; after a clock that went back the time is
 * 0.
 */
TEST(frames)
{
	struct control_crash report = {
		.tid = 1,
		.signal = SIGABRT,
		.time_ns = 5000,
		.depth = 2,
		.nr_frames = 2,
		.frames = { { .addr = 0xabc, .time_ns = 2000 },
			    { .addr = 0xdef, .time_ns = 5001 } },
	};

	assert_string_equal(printed_alone(&report),
			    "WARN: task 1 was ended by signal 6: Aborted; it was in\n"
			    "  #0  <abc>, for 3us\n"
			    "  #1  <def>, for 0ns\n");
	report.depth = 5;
	assert_non_null(strstr(printed_alone(&report), "\n  and 3 more around them\n"));
	report.nr_frames = 1;
	report.depth = 1;
	assert_null(strstr(printed_alone(&report), "more around"));
	assert_null(strstr(printed_alone(&report), "def"));
}
