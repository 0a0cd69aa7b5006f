/*
 * Tasks and their sessions: inheritance over forks, exec, names; and task.txt files that are very
 * long or wrong.
 */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/recording.h"
#include "utils/pipeline/recording/data.h"

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
