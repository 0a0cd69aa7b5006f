/* A recording that is still being made: task.txt is read line by line. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lib/read/recording.h"
#include "utils/pipeline/recording/data.h"

static struct recording rec;
static struct trace_data data;

static int setup(void **state)
{
	data = (struct trace_data){ 0 };
	recording_init(&rec);
	recording_finish(&rec);
	assert_int_equal(data_open_growing(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	return 0;
}

static int teardown(void **state)
{
	data_close(&data);
	recording_deinit(&rec);
	return 0;
}

/* Append @text to the end of task.txt. */
static void append(const char *text, size_t len)
{
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s/task.txt", rec.dir);
	file = fopen(path, "a");
	assert_int_equal(fwrite(text, 1, len, file), len);
	fclose(file);
}

static int grow(struct uft_err *err)
{
	assert_int_equal(data_read_more(&data, NULL), 0);
	return data_grow(&data, err);
}

static int grow_by(const char *text)
{
	append(text, strlen(text));
	return grow(NULL);
}

TEST_WITH(it_begins_with_nothing, setup, teardown)
{
	assert_int_equal(data.nr_tasks, 0);
	assert_int_equal(data.nr_sessions, 0);
	assert_null(data_task(&data, 100));
	assert_false(data_has_records(&data));
	/* Lines that were not read yet have no effect. */
	assert_int_equal(data_grow(&data, NULL), 0);
	assert_int_equal(grow(NULL), 1);
	assert_int_equal(data.nr_tasks, 1);
	assert_int_equal(data.nr_sessions, 1);
	assert_int_equal(data.tasks[0].tid, 100);
	assert_int_equal(data.tasks[0].pid, 100);
	assert_int_equal(data.tasks[0].index, 0);
	assert_string_equal(task_session(&data.tasks[0], 1000)->exename, "/x/prog");
	/* The map of the session was read, too. */
	assert_int_equal(data.sessions[0]->map.nr, 1);
	assert_int_equal(grow(NULL), 0);
}

TEST_WITH(tasks_come_in_the_order_of_their_lines, setup, teardown)
{
	const struct task *first;

	assert_int_equal(grow(NULL), 1);
	first = data_task(&data, 100);
	assert_int_equal(grow_by("TASK timestamp=0.000000300 tid=500 pid=100\n"
				 "TASK timestamp=0.000000310 tid=200 pid=100\n"
				 "FORK timestamp=0.000000320 pid=300 ppid=200\n"),
			 1);
	assert_int_equal(data.nr_tasks, 4);
	assert_int_equal(data.tasks[1].tid, 500);
	assert_int_equal(data.tasks[1].index, 1);
	assert_int_equal(data.tasks[2].tid, 200);
	assert_int_equal(data.tasks[2].pid, 100);
	assert_int_equal(data.tasks[2].start_ns, 310);
	assert_int_equal(data.tasks[3].tid, 300);
	assert_int_equal(data.tasks[3].ppid, 200);
	assert_true(data.tasks[3].is_fork);
	assert_ptr_equal(data_task(&data, 500), &data.tasks[1]);
	assert_ptr_equal(data_task(&data, 300), &data.tasks[3]);
	assert_null(data_task(&data, 501));
	/* Tasks never move in memory, and each is there once. */
	assert_ptr_equal(data_task(&data, 100), first);
	assert_int_equal(grow_by("TASK timestamp=0.000000400 tid=500 pid=100\n"), 1);
	assert_int_equal(data.nr_tasks, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(task_session(&data.tasks[i], 1000)->exename, "/x/prog");
}

TEST_WITH(a_line_counts_when_it_is_whole, setup, teardown)
{
	assert_int_equal(grow(NULL), 1);
	assert_int_equal(grow_by("TASK timestamp=0.00"), 0);
	assert_int_equal(data.nr_tasks, 1);
	assert_int_equal(grow_by("0000300 tid=500 pid=100\nTASK time"), 1);
	assert_int_equal(data.nr_tasks, 2);
	assert_int_equal(grow(NULL), 0);
	assert_int_equal(grow_by("stamp=0.000000300 tid=501 pid=100"), 0);
	assert_int_equal(grow_by("\n"), 1);
	assert_int_equal(data.nr_tasks, 3);
}

TEST_WITH(sessions_and_libraries_that_come_later, setup, teardown)
{
	assert_int_equal(grow(NULL), 1);
	recording_add_file(&rec, "sid-00000000000000ff.map",
			   "600000-700000 r-xp 00000000 00:00 0 /x/next\n", 44);
	assert_int_equal(grow_by("SESS timestamp=0.000002000 pid=100 sid=00000000000000ff "
				 "exename=\"/x/next\"\n"
				 "TASK timestamp=0.000002100 tid=101 pid=100\n"
				 "TASK timestamp=0.000000900 tid=102 pid=100\n"),
			 1);
	assert_int_equal(data.nr_sessions, 2);
	assert_int_equal(data.sessions[1]->map.nr, 1);
	assert_string_equal(task_session(data_task(&data, 100), 1999)->exename, "/x/prog");
	assert_string_equal(task_session(data_task(&data, 100), 2000)->exename, "/x/next");
	/* A task begins in the session that its process has at that time. */
	assert_string_equal(task_session(data_task(&data, 101), 2100)->exename, "/x/next");
	assert_string_equal(task_session(data_task(&data, 102), 900)->exename, "/x/prog");
	assert_int_equal(data.sessions[0]->nr_late, 0);
	assert_int_equal(
		grow_by("DLOP timestamp=0.000003000 tid=100 sid=0123456789abcdef base=700000 "
			"libname=\"/x/lib\"\n"),
		1);
	assert_int_equal(data.sessions[0]->nr_late, 1);
	assert_int_equal(data.nr_tasks, 3);
}

TEST_WITH(numbers_that_are_no_tasks, setup, teardown)
{
	static const struct {
		const char *line;
		int ret;
	} rows[] = {
		{ "TASK timestamp=0.000000300 tid=4194303 pid=100\n", 1 },
		{ "TASK timestamp=0.000000300 tid=4194304 pid=100\n", -EINVAL },
		{ "TASK timestamp=0.000000300 tid=1 pid=100\n", 1 },
		{ "TASK timestamp=0.000000300 tid=0 pid=100\n", -EINVAL },
		{ "nonsense\n", -EINVAL },
	};

	assert_int_equal(grow(NULL), 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct uft_err err = { 0 };
		char expected[128];

		append(rows[i].line, strlen(rows[i].line));
		assert_int_equal(grow(&err) < 0, rows[i].ret < 0);
		if (rows[i].ret > 0)
			continue;
		snprintf(expected, sizeof(expected), "cannot read '%s/task.txt': ", rec.dir);
		assert_int_equal(strncmp(err.text, expected, strlen(expected)), 0);
	}
	assert_non_null(data_task(&data, 4194303));
	assert_null(data_task(&data, 4194304));
	assert_null(data_task(&data, 0));
	assert_null(data_task(&data, -1));
	assert_non_null(data_task(&data, 1));
}

TEST_WITH(a_number_that_is_none_is_named, setup, teardown)
{
	struct uft_err err = { 0 };
	char expected[128];

	append("TASK timestamp=0.000000300 tid=0 pid=100\n", 41);
	assert_int_equal(grow(&err), -EINVAL);
	snprintf(expected, sizeof(expected), "cannot read '%s/task.txt': 0 is no id of a task",
		 rec.dir);
	assert_string_equal(err.text, expected);
}

/* The lines are more than what is read at a time. */
TEST_WITH(many_lines, setup, teardown)
{
	struct strbuf text cleanup_strbuf = { 0 };

	for (int i = 0; i < 5000; i++)
		strbuf_addf(&text, "TASK timestamp=0.%09d tid=%d pid=100\n", 300 + i, 1000 + i);
	append(text.data, text.len);
	assert_int_equal(grow(NULL), 1);
	assert_int_equal(data.nr_tasks, 5001);
	for (int i = 0; i < 5000; i++)
		assert_int_equal(data_task(&data, 1000 + i)->start_ns, 300 + i);
}

TEST_WITH(files_are_measured, setup, teardown)
{
	assert_int_equal(grow(NULL), 1);
	recording_add_file(&rec, "100.dat", "0123456789abcdef", 16);
	assert_false(data_has_records(&data));
	assert_int_equal(data_measure_files(&data, NULL), 0);
	assert_int_equal(data.tasks[0].data_bytes, 16);
	assert_true(data_has_records(&data));
}

TEST_WITH(a_recording_that_is_renamed_is_noticed, setup, teardown)
{
	struct uft_err err = { 0 };
	char moved[96];

	assert_int_equal(data_check_name(&data, &err), 0);
	snprintf(moved, sizeof(moved), "%s.old", rec.dir);
	assert_int_equal(rename(rec.dir, moved), 0);
	assert_int_equal(data_check_name(&data, &err), -ESTALE);
	assert_non_null(strstr(err.text, moved));
	/* The name now belongs to another directory. */
	assert_int_equal(mkdir(rec.dir, 0700), 0);
	assert_int_equal(data_check_name(&data, NULL), -ESTALE);
	assert_int_equal(rmdir(rec.dir), 0);
	assert_int_equal(rename(moved, rec.dir), 0);
	assert_int_equal(data_check_name(&data, NULL), 0);
}

TEST_WITH(without_task_txt_there_is_no_recording, setup, teardown)
{
	struct trace_data other;
	struct uft_err err = { 0 };
	char path[96];

	snprintf(path, sizeof(path), "%s/task.txt", rec.dir);
	unlink(path);
	assert_int_equal(data_open_growing(&other, rec.dir, DEMANGLE_SIMPLE, &err), -ENOENT);
	assert_non_null(strstr(err.text, path));
	assert_null(other.growth);
}
