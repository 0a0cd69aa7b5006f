/*
 * Tasks and their sessions: inheritance over forks, exec, names; and task.txt files that are very
 * long or wrong.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "tests/unit/lib/read/recording.h"
#include "utils/pipeline/recording/data_tasks.h"

static struct recording rec;
static struct trace_data data;

static int setup(void **state)
{
	recording_init(&rec);
	recording_add_task(&rec, 100, "a{}", 1000);
	return 0;
}

static int teardown(void **state)
{
	data_close(&data);
	recording_deinit(&rec);
	return 0;
}

static void add_session(unsigned time_ns, int pid, unsigned number)
{
	strbuf_addf(&rec.task_txt, "SESS timestamp=0.%09u pid=%d sid=%016x exename=\"/x/prog%u\"\n",
		    time_ns, pid, number, number);
}

static void add_fork(unsigned time_ns, int pid, int ppid)
{
	strbuf_addf(&rec.task_txt, "FORK timestamp=0.%09u pid=%d ppid=%d\n", time_ns, pid, ppid);
}

static void load(void)
{
	struct uft_err err = { 0 };

	recording_finish(&rec);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, &err), 0);
}

static const char *program_of(int tid, uint64_t time_ns)
{
	return task_session(data_task(&data, tid), time_ns)->exename;
}

TEST_WITH(forks_inherit, setup, teardown)
{
	add_session(500, 100, 1);
	add_fork(400, 101, 100);
	add_fork(600, 102, 100);
	add_fork(700, 103, 102);
	add_session(800, 103, 2);
	load();
	assert_string_equal(program_of(100, 450), "/x/prog");
	assert_string_equal(program_of(100, 500), "/x/prog1");
	assert_string_equal(program_of(101, 900), "/x/prog");
	assert_string_equal(program_of(102, 600), "/x/prog1");
	assert_string_equal(program_of(103, 799), "/x/prog1");
	assert_string_equal(program_of(103, 800), "/x/prog2");
}

/* Each of these lists took minutes when every step searched all entries. */
TEST_WITH(very_many, setup, teardown)
{
	const unsigned nr = 100000;

	for (unsigned i = 1; i <= nr; i++)
		add_fork(1000 + i, 100 + i, 100 + i - 1);
	for (unsigned i = 1; i <= nr; i++)
		add_session(i, 5, i);
	load();
	assert_string_equal(program_of(100 + nr, 900000), "/x/prog");
	assert_string_equal(program_of(5, 70000), "/x/prog70000");
	assert_int_equal(data.nr_sessions, nr + 1);
}

TEST_WITH(forks_in_a_circle, setup, teardown)
{
	add_fork(300, 101, 102);
	add_fork(300, 102, 103);
	add_fork(300, 103, 101);
	add_fork(300, 104, 104);
	load();
	/* The parent is not known, so the first task is taken for it. */
	for (int tid = 101; tid <= 104; tid++)
		assert_string_equal(program_of(tid, 500), "/x/prog");
}

TEST_WITH(names_in_time, setup, teardown)
{
	load();
	assert_int_equal(data_name_task(&data, 100, 200, "one"), 0);
	assert_int_equal(data_name_task(&data, 100, 300, "two"), 0);
	assert_string_equal(task_name_at(data_task(&data, 100), 199), "prog");
	assert_string_equal(task_name_at(data_task(&data, 100), 299), "one");
	assert_string_equal(task_name_at(data_task(&data, 100), 9999), "two");
}

/* Names are noted file by file, one CPU after the other, and sorted later. */
TEST_WITH(names_that_come_late, setup, teardown)
{
	load();
	assert_int_equal(data_name_task(&data, 100, 300, "three"), 0);
	assert_int_equal(data_name_task(&data, 100, 200, "two"), 0);
	data_sort_names(&data);
	assert_string_equal(task_name_at(data_task(&data, 100), 250), "two");
	assert_string_equal(task_name_at(data_task(&data, 100), 350), "three");
}

/* A thread's line names its process, whose session the thread has. */
TEST_WITH(threads_have_the_session_of_their_process, setup, teardown)
{
	add_session(300, 200, 1);
	strbuf_addstr(&rec.task_txt, "TASK timestamp=0.000000400 tid=201 pid=200\n");
	load();
	assert_int_equal(data_task(&data, 201)->pid, 200);
	assert_string_equal(program_of(201, 500), "/x/prog1");
	assert_string_equal(program_of(100, 500), "/x/prog");
}

/* A recording has something to show if a task has records. */
TEST_WITH(recordings_without_records, setup, teardown)
{
	load();
	assert_true(data_has_records(&data));
	data_close(&data);
	recording_add_file(&rec, "100.dat", "", 0);
	load();
	assert_non_null(data_task(&data, 100));
	assert_false(data_has_records(&data));
}

/*
 * Each number is listed once, whatever the order in which it is added. Then tasks are put in the
 * order of their beginning.
 */
TEST(lists_of_tasks)
{
	static const int32_t tids[] = { 50, 10, 70, 30, 10, 60, 50, 20, 70, 40 };
	static const int32_t by_time[] = { 40, 50, 60, 70, 30, 20, 10 };
	struct task_list list = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(tids); i++) {
		struct task *task = task_list_get(&list, tids[i]);

		assert_non_null(task);
		assert_int_equal(task->tid, tids[i]);
	}
	assert_int_equal(list.nr, 7);
	for (size_t i = 0; i < list.nr; i++)
		list.all[i].start_ns = list.all[i].tid < 40 ? 1000 - list.all[i].tid : 7;
	task_list_sort_by_time(&list);
	for (size_t i = 0; i < list.nr; i++)
		assert_int_equal(list.all[i].tid, by_time[i]);
	task_list_deinit(&list);
	assert_null(list.all);
	/* The list has no task. */
	task_list_sort_by_time(&list);
	task_list_deinit(&list);
}

/* A child may have a smaller number than its parent. Each task keeps its own sessions. */
TEST_WITH(children_with_smaller_numbers, setup, teardown)
{
	add_session(500, 100, 1);
	add_fork(550, 200, 100);
	add_session(600, 200, 2);
	add_fork(700, 90, 200);
	add_fork(800, 80, 90);
	load();
	for (int tid = 80; tid <= 90; tid += 10) {
		assert_int_equal(data_task(&data, tid)->nr_refs, 1);
		assert_string_equal(program_of(tid, 100), "/x/prog2");
		assert_string_equal(program_of(tid, 900), "/x/prog2");
	}
	assert_int_equal(data_task(&data, 200)->nr_refs, 2);
	assert_string_equal(program_of(200, 599), "/x/prog1");
	assert_string_equal(program_of(200, 600), "/x/prog2");
	assert_int_equal(data_task(&data, 100)->nr_refs, 2);
	assert_string_equal(program_of(100, 50), "/x/prog");
	assert_string_equal(program_of(100, 499), "/x/prog");
}

/* A line of its own states when a task began. Without one, its first session does. */
TEST_WITH(beginnings_of_tasks, setup, teardown)
{
	static const struct {
		const char *lines[3];
		uint64_t start_ns;
		bool is_fork;
		bool has_session;
		bool has_own_line;
	} cases[] = {
		{ { "T400" }, 400, false, false, true },
		{ { "S300" }, 300, false, true, false },
		{ { "S300", "S200" }, 200, false, true, false },
		{ { "S200", "S300" }, 200, false, true, false },
		{ { "T400", "S300" }, 400, false, true, true },
		{ { "S300", "T400" }, 400, false, true, true },
		{ { "T400", "T350" }, 350, false, false, true },
		{ { "T350", "T400" }, 350, false, false, true },
		{ { "F400", "T500" }, 400, true, false, true },
		{ { "T500", "F400" }, 400, true, false, true },
		{ { "S300", "F400", "S200" }, 400, true, true, true },
		{ { "T400", "D100" }, 400, false, false, true },
		{ { "S400", "D100" }, 400, false, true, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct task *task;

		if (i) {
			teardown(state);
			setup(state);
		}
		for (size_t k = 0; k < ARRAY_SIZE(cases[i].lines) && cases[i].lines[k]; k++) {
			const char *time = cases[i].lines[k] + 1;

			switch (*cases[i].lines[k]) {
			case 'T':
				strbuf_addf(&rec.task_txt,
					    "TASK timestamp=0.000000%s tid=300 pid=299\n", time);
				break;
			case 'F':
				add_fork(atoi(time), 300, 298);
				break;
			case 'S':
				add_session(atoi(time), 300, i + 1);
				break;
			default:
				strbuf_addf(&rec.task_txt,
					    "DLOP timestamp=0.000000%s tid=300 "
					    "sid=0123456789abcdef base=1000 libname=\"/l\"\n",
					    time);
				break;
			}
		}
		load();
		task = data_task(&data, 300);
		assert_non_null(task);
		assert_int_equal(task->start_ns, cases[i].start_ns);
		assert_int_equal(task->is_fork, cases[i].is_fork);
		assert_int_equal(task->ppid, cases[i].is_fork ? 298 : 0);
		assert_int_equal(task->has_session, cases[i].has_session);
		assert_int_equal(task->has_own_line, cases[i].has_own_line);
	}
}

/* Tasks are known by their own lines, and by their files. The line of a library adds no task. */
TEST_WITH(tasks_of_lines_and_files, setup, teardown)
{
	add_fork(500, 104, 103);
	add_fork(500, 104, 103);
	add_session(500, 102, 1);
	add_session(600, 101, 1);
	strbuf_addstr(&rec.task_txt, "DLOP timestamp=0.000000900 tid=300 sid=0123456789abcdef "
				     "base=1000 libname=\"/l\"\n"
				     "DLOP timestamp=0.000000900 tid=100 sid=unknown123456789 "
				     "base=1000 libname=\"/l\"\n");
	recording_add_file(&rec, "99.dat", "", 0);
	recording_add_file(&rec, "x98.dat", "", 0);
	recording_add_file(&rec, "0.dat", "", 0);
	load();
	assert_int_equal(data.nr_tasks, 5);
	assert_int_equal(data.nr_sessions, 2);
	for (size_t i = 0; i < data.nr_tasks; i++) {
		static const int32_t tids[] = { 99, 100, 101, 102, 104 };

		assert_int_equal(data.tasks[i].tid, tids[i]);
		assert_int_equal(data.tasks[i].index, i);
		assert_ptr_equal(data_task(&data, tids[i]), &data.tasks[i]);
	}
	assert_null(data_task(&data, 103));
	assert_null(data_task(&data, 98));
	assert_null(data_task(&data, 300));
	assert_int_equal(data_task(&data, 99)->start_ns, 0);
	assert_int_equal(data_task(&data, 99)->pid, 99);
	/* A task without any session gets the first one. */
	assert_string_equal(program_of(99, 500), "/x/prog");
}

/* A task may be known only by its compact file. */
TEST_WITH(tasks_of_compact_files, setup, teardown)
{
	recording_add_task(&rec, 600, "a{}", 1000);
	recording_pack(&rec, 600, 4096);
	strbuf_reset(&rec.task_txt);
	add_session(100, 100, 1);
	load();
	assert_int_equal(data.nr_tasks, 2);
	assert_non_null(data_task(&data, 600));
	assert_int_equal(data_task(&data, 600)->data_bytes, 32);
}

TEST_WITH(origins_of_tasks, setup, teardown)
{
	add_fork(500, 101, 100);
	add_fork(500, 102, 999);
	strbuf_addstr(&rec.task_txt, "TASK timestamp=0.000000400 tid=103 pid=101\n"
				     "TASK timestamp=0.000000400 tid=104 pid=998\n"
				     "TASK timestamp=0.000000400 tid=101 pid=101\n");
	load();
	assert_null(task_origin(&data, data_task(&data, 100)));
	assert_ptr_equal(task_origin(&data, data_task(&data, 101)), data_task(&data, 100));
	assert_null(task_origin(&data, data_task(&data, 102)));
	assert_ptr_equal(task_origin(&data, data_task(&data, 103)), data_task(&data, 101));
	assert_null(task_origin(&data, data_task(&data, 104)));
}

/* The meaning of addresses changes with an exec, and with a library that is loaded. */
TEST_WITH(places_in_time, setup, teardown)
{
	static const struct {
		uint64_t time_ns;
		size_t session;
		uint64_t until_ns;
		uint64_t next_exec_ns;
	} cases[] = {
		{ 0, 0, 300, 500 },   { 100, 0, 300, 500 },
		{ 299, 0, 300, 500 }, { 300, 0, 500, 500 },
		{ 499, 0, 500, 500 }, { 500, 1, 900, 900 },
		{ 899, 1, 900, 900 }, { 900, 2, UINT64_MAX, UINT64_MAX },
	};
	const struct task none = { .tid = 7 };
	struct task_place place;
	struct uft_err err = { 0 };

	strbuf_addstr(&rec.task_txt, "DLOP timestamp=0.000000300 tid=100 sid=0123456789abcdef "
				     "base=1000 libname=\"/l\"\n");
	add_session(500, 100, 1);
	add_session(900, 100, 2);
	load();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct task *task = data_task(&data, 100);

		assert_int_equal(task_place_at(task, 0, cases[i].time_ns, &place, &err), 0);
		assert_ptr_equal(place.session, data.sessions[cases[i].session]);
		assert_ptr_equal(place.space->session, place.session);
		assert_int_equal(place.until_ns, cases[i].until_ns);
		assert_int_equal(task_next_exec_ns(task, cases[i].time_ns), cases[i].next_exec_ns);
	}
	assert_int_equal(task_place_at(&none, 0, 5, &place, &err), -ENODATA);
	assert_string_equal(err.text, "task 7 has no session in task.txt");
	assert_int_equal(task_next_exec_ns(&none, 5), UINT64_MAX);
}

/* A name counts until the next exec, which gives the task the name of its program. */
TEST_WITH(names_and_programs, setup, teardown)
{
	const struct task none = { .tid = 7 };
	const struct task *task;

	add_session(500, 100, 1);
	add_session(700, 100, 2);
	load();
	assert_int_equal(data_name_task(&data, 99, 10, "another task"), 0);
	assert_int_equal(data_name_task(&data, 100, 50, "early"), 0);
	assert_int_equal(data_name_task(&data, 100, 499, "late"), 0);
	assert_int_equal(data_name_task(&data, 100, 700, "at once"), 0);
	task = data_task(&data, 100);
	assert_int_equal(task->nr_names, 3);
	assert_string_equal(task_name_at(task, 49), "prog");
	assert_string_equal(task_name_at(task, 50), "early");
	assert_string_equal(task_name_at(task, 498), "early");
	assert_string_equal(task_name_at(task, 499), "late");
	assert_string_equal(task_name_at(task, 500), "prog1");
	assert_string_equal(task_name_at(task, 699), "prog1");
	assert_string_equal(task_name_at(task, 700), "at once");
	assert_string_equal(task_name_at(&none, 700), "");
}

/* Tasks that are known from events are sorted in, and all names are read anew. */
TEST_WITH(tasks_that_are_added, setup, teardown)
{
	static const int32_t tids[] = { 50, 70, 100, 300 };

	for (int has_sessions = 0; has_sessions <= 1; has_sessions++) {
		struct task_list list cleanup_task_list = { 0 };

		if (has_sessions) {
			teardown(state);
			setup(state);
		} else {
			strbuf_reset(&rec.task_txt);
			strbuf_addstr(&rec.task_txt,
				      "TASK timestamp=0.000000400 tid=100 pid=100\n");
		}
		load();
		assert_int_equal(data_name_task(&data, 100, 50, "name"), 0);
		task_list_get(&list, 300)->start_ns = 7;
		task_list_get(&list, 50)->start_ns = 8;
		task_list_get(&list, 70)->start_ns = 9;
		assert_int_equal(data_add_tasks(&data, &list), 0);
		assert_int_equal(data.nr_tasks, 4);
		for (size_t i = 0; i < data.nr_tasks; i++) {
			const struct task *task = &data.tasks[i];

			assert_int_equal(task->tid, tids[i]);
			assert_int_equal(task->index, i);
			assert_int_equal(task->nr_refs, has_sessions);
			assert_int_equal(task->nr_names, 0);
			assert_null(task->names);
			if (has_sessions)
				assert_ptr_equal(task->refs[0].session, data.sessions[0]);
			if (has_sessions && task->tid != 100)
				assert_int_equal(task->refs[0].start_ns, 0);
		}
		assert_int_equal(data_task(&data, 300)->start_ns, 7);
	}
}

/* The message names the file, and what was expected there. */
TEST_WITH(lines_that_are_wrong, setup, teardown)
{
	struct uft_err err = { 0 };
	char expected[256];

	strbuf_addstr(&rec.task_txt, "TASK timestamp=x\n");
	recording_finish(&rec);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, &err), -EINVAL);
	snprintf(expected, sizeof(expected),
		 "cannot read '%s/task.txt': expected 'TASK timestamp=<s>.<ns> tid=<tid> "
		 "pid=<pid>'",
		 rec.dir);
	assert_string_equal(err.text, expected);
	/* The recorder was killed while it wrote the last line. */
	rec.task_txt.len -= strlen("x\n");
	recording_add_file(&rec, "task.txt", rec.task_txt.data, rec.task_txt.len);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(data.nr_tasks, 1);
}
