/* task.txt: round trip of every kind of line, old spellings, cut lines and wrong ones. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/format/task_txt.h"

static const char sample[] =
	"SESS timestamp=478.254482221 pid=7456 sid=febabb7b6ce94d6b exename=\"/tmp/a \"b\"/pg\"\n"
	"TASK timestamp=478.254526422 tid=7457 pid=7456\n"
	"FORK timestamp=479.000000001 pid=7458 ppid=7456\n"
	"DLOP timestamp=480.000000000 tid=7457 sid=febabb7b6ce94d6b base=7f00deadb000 "
	"libname=\"./libx.so\"\n";

TEST(round_trip)
{
	struct text in = text_of(sample, strlen(sample));
	struct strbuf out cleanup_strbuf = { 0 };
	struct task_line line;
	int nr = 0;

	for (; task_txt_next(&in, &line, NULL) == 1; nr++)
		task_line_encode(&line, &out);
	assert_int_equal(nr, 4);
	assert_string_equal(strbuf_str(&out), sample);
}

static struct task_line decode(const char *text)
{
	struct task_line line;
	struct uft_err err = { 0 };

	assert_int_equal(task_line_decode(text_of(text, strlen(text)), &line, &err), 0);
	return line;
}

TEST(fields)
{
	struct task_line line = decode(
		"SESS timestamp=1.5 tid=7 sid=0123456789abcdef exename=\"/a\"b\" \"");

	assert_int_equal(line.type, TASK_LINE_SESSION);
	assert_int_equal(line.time_ns, 1500000000);
	assert_int_equal(line.pid, 7);
	assert_string_equal(line.sid, "0123456789abcdef");
	assert_int_equal(line.path_len, 6);
	assert_memory_equal(line.path, "/a\"b\" ", 6);

	line = decode("DLOP timestamp=1.000000002 tid=9 sid=0123456789abcdef base=ff libname=\"\"");
	assert_int_equal(line.time_ns, 1000000002);
	assert_int_equal(line.base, 0xff);
	assert_int_equal(line.path_len, 0);
}

TEST(newline_in_a_name)
{
	struct task_line line = {
		.type = TASK_LINE_SESSION, .sid = "0123456789abcdef", .path = "a\nb", .path_len = 3
	};
	struct strbuf out cleanup_strbuf = { 0 };

	task_line_encode(&line, &out);
	assert_string_equal(
		strbuf_str(&out),
		"SESS timestamp=0.000000000 pid=0 sid=0123456789abcdef exename=\"a\\012b\"\n");
}

TEST(cut_anywhere)
{
	size_t whole_lines = 0;

	for (size_t len = 0; len <= strlen(sample); len++) {
		char *copy = exact_copy(sample, len);
		struct text in = text_of(copy, len);
		struct task_line line;
		struct uft_err err = { 0 };
		size_t nr = 0;
		int ret;

		while ((ret = task_txt_next(&in, &line, &err)) == 1)
			nr++;
		assert_int_equal(ret, 0);
		if (len && sample[len - 1] == '\n')
			whole_lines++;
		/* A line that lacks only its newline may count, or may not. */
		assert_in_range(nr, whole_lines, whole_lines + 1);
		free(copy);
	}
}

TEST(bad_lines)
{
	static const char *const bad[] = {
		"HELLO\n",
		"TASK timestamp=1.0 tid=x pid=1\n",
		"TASK timestamp=1.0 tid=99999999999 pid=1\n",
		"TASK timestamp=99999999999999999999.0 tid=1 pid=1\n",
		"SESS timestamp=1.0 pid=1 sid=../../../../../e exename=\"x\"\n",
		"SESS timestamp=1.0 pid=1 sid=0123456789abcdef exename=\"\n",
		"DLOP timestamp=1.0 tid=1 sid=0123456789abcdef base= libname=\"x\"\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct text in = text_of(bad[i], strlen(bad[i]));
		struct task_line line;
		struct uft_err err = { 0 };

		assert_int_equal(task_txt_next(&in, &line, &err), -EINVAL);
		assert_non_null(strstr(err.text, "expected"));
	}
}

/* Each part of each kind of line is needed. The message shows the form of that kind of line. */
TEST(parts_of_lines)
{
	static const char sess[] =
		"expected 'SESS timestamp=<s>.<ns> pid=<pid> sid=<16 characters> "
		"exename=\"<path>\"'";
	static const char task[] = "expected 'TASK timestamp=<s>.<ns> tid=<tid> pid=<pid>'";
	static const char fork[] = "expected 'FORK timestamp=<s>.<ns> pid=<pid> ppid=<pid>'";
	static const char dlop[] =
		"expected 'DLOP timestamp=<s>.<ns> tid=<tid> sid=<16 characters> "
		"base=<hex> libname=\"<path>\"'";
	static const char other[] = "expected a line with SESS, TASK, FORK or DLOP";
	static const struct {
		const char *line;
		const char *text;
	} cases[] = {
		{ "", other },
		{ "TAS", other },
		{ "task timestamp=1.0 tid=1 pid=1", other },
		{ "TASK", task },
		{ "TASK time=1.0 tid=1 pid=1", task },
		{ "TASK timestamp= tid=1 pid=1", task },
		{ "TASK timestamp=1.0 pid=1", task },
		{ "TASK timestamp=1.0 tid=1", task },
		{ "TASK timestamp=1.0 tid=1 pid=", task },
		{ "FORK timestamp=1.0 tid=1 ppid=1", fork },
		{ "FORK timestamp=1.0 pid= ppid=1", fork },
		{ "FORK timestamp=1.0 pid=1 pid=1", fork },
		{ "FORK timestamp=1.0 pid=1 ppid=x", fork },
		{ "SESS timestamp=1.0 ppid=1 sid=0123456789abcdef exename=\"x\"", sess },
		{ "SESS timestamp=1.0 pid=x sid=0123456789abcdef exename=\"x\"", sess },
		{ "SESS timestamp=1.0 pid=1 id=0123456789abcdef exename=\"x\"", sess },
		{ "SESS timestamp=1.0 pid=1 sid=0123456789abcde exename=\"x\"", sess },
		{ "SESS timestamp=1.0 pid=1 sid=0123456789abcdef", sess },
		{ "SESS timestamp=1.0 pid=1 sid=012345", sess },
		{ "SESS timestamp=1.0 pid=1 sid=0123456789abcdefexename=\"x\"", sess },
		{ "SESS timestamp=1.0 pid=1 sid=0123456789abcdef libname=\"x\"", sess },
		{ "SESS timestamp=1.0 pid=1 sid=0123456789abcdef exename=x", sess },
		{ "SESS timestamp=1.0 pid=1 sid=0123456789abcde/ exename=\"x\"", sess },
		{ "SESS timestamp=1.0 pid=1 sid=0123456789abcde: exename=\"x\"", sess },
		{ "SESS timestamp=1.0 pid=1 sid=0123456789abcde@ exename=\"x\"", sess },
		{ "SESS timestamp=1.0 pid=1 sid=0123456789abcde[ exename=\"x\"", sess },
		{ "SESS timestamp=1.0 pid=1 sid=0123456789abcde` exename=\"x\"", sess },
		{ "SESS timestamp=1.0 pid=1 sid={123456789abcdef exename=\"x\"", sess },
		{ "DLOP timestamp=1.0 pid=1 sid=0123456789abcdef base=1 libname=\"x\"", dlop },
		{ "DLOP timestamp=1.0 tid=x sid=0123456789abcdef base=1 libname=\"x\"", dlop },
		{ "DLOP timestamp=1.0 tid=1 sid=0123456789abcde base=1 libname=\"x\"", dlop },
		{ "DLOP timestamp=1.0 tid=1 sid=0123456789abcdef bas=1 libname=\"x\"", dlop },
		{ "DLOP timestamp=1.0 tid=1 sid=0123456789abcdef base=x libname=\"x\"", dlop },
		{ "DLOP timestamp=1.0 tid=1 sid=0123456789abcdef base=1 exename=\"x\"", dlop },
		{ "SESS timestamp=1.0 pid=1 sid=09azAZ0000000000 exename=\"x\"", NULL },
		{ "DLOP timestamp=1.0 tid=1 sid=0123456789abcdef base=1 libname=\"x\"", NULL },
		{ "FORK timestamp=1.0 pid=1 ppid=1 more", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = strlen(cases[i].line);
		char *copy = exact_copy(cases[i].line, len);
		struct task_line line = { .time_ns = 7 };
		struct uft_err err = { 0 };
		int ret = task_line_decode(text_of(copy, len), &line, &err);

		assert_int_equal(ret, cases[i].text ? -EINVAL : 0);
		assert_string_equal(err.text, cases[i].text ? cases[i].text : "");
		assert_int_equal(line.time_ns, cases[i].text ? 7 : 1000000000);
		free(copy);
	}
}

/* Blank lines are skipped. A wrong last line without a newline is taken for the end of the file. */
TEST(lines_of_files)
{
	static const struct {
		const char *text;
		int results[4];
	} cases[] = {
		{ "", { 0 } },
		{ "\n\n", { 0 } },
		{ "\nTASK timestamp=1.0 tid=1 pid=1\n\nFORK timestamp=1.0 pid=1 ppid=1\n\n",
		  { 1, 1, 0 } },
		{ "TASK timestamp=1.0 tid=1 pid=1\nTASK", { 1, 0 } },
		{ "TASK timestamp=1.0 tid=1 pid=1\nTASK\n", { 1, -EINVAL } },
		{ "TASK timestamp=1.0 tid=1 pid=1\nTASK timestamp=1.0 tid=1 pid=1", { 1, 1, 0 } },
		{ "TASK", { 0 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct text in = text_of(cases[i].text, strlen(cases[i].text));
		struct task_line line;
		size_t k = 0;

		do {
			assert_int_equal(task_txt_next(&in, &line, NULL), cases[i].results[k]);
		} while (cases[i].results[k++] > 0);
	}
}
