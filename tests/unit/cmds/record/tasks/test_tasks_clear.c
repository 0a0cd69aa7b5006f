/*
 * Unit tests of cmds/record/tasks/tasks_clear.c: the lines of task.txt that stay, and the
 * recorder's state, with a recording in memory.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <unistd.h>

#include "cmds/record/tasks/tasks.h"
#include "tests/unit/lib/record/store_memory.h"
#include "utils/base/compiler.h"

struct place {
	struct store_memory memory;
	struct tasks tasks;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	store_memory_init(&p->memory);
	assert_int_equal(tasks_open(&p->tasks, &p->memory.store, NULL), 0);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	tasks_close(&p->tasks);
	store_memory_deinit(&p->memory);
	free(p);
	return 0;
}

static void write_log(struct place *p, const char *text)
{
	store_publish(&p->memory.store, "task.txt", text, strlen(text), NULL);
}

static void check_log(struct place *p, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };

	assert_int_equal(store_read(&p->memory.store, "task.txt", SIZE_MAX, &text), 0);
	assert_string_equal(strbuf_str(&text), expected);
}

/* Threads do not have numbers of 4200000 and more, so none of these threads exists. */
#define SESSION(pid) \
	"SESS timestamp=1.000000001 pid=" #pid " sid=0123456789abcdef exename=\"/bin/a\"\n"
#define TASK(tid, pid)	"TASK timestamp=4.000000000 tid=" #tid " pid=" #pid "\n"
#define FORK(pid, ppid) "FORK timestamp=4.000000000 pid=" #pid " ppid=" #ppid "\n"
#define DLOP(tid)                                                                   \
	"DLOP timestamp=1.500000000 tid=" #tid " sid=0123456789abcdef base=7f0000 " \
	"libname=\"/lib/x.so\"\n"

TEST_WITH(nothing_kept_leaves_what_is_no_thread_and_no_child, setup, teardown)
{
	struct place *p = *state;

	write_log(p, SESSION(4200001) TASK(4200001, 4200001) TASK(4200002, 4200001)
			     FORK(4200003, 4200001) DLOP(4200002) SESSION(4200004));
	tasks_clear(&p->tasks, (int32_t[1]){ 0 }, 0);
	check_log(p, SESSION(4200001) TASK(4200001, 4200001) DLOP(4200002) SESSION(4200004));
	assert_int_equal(p->memory.store.error, 0);
}

/*
 * The line of a stack stays in task.txt while the ring of the stack is in use: a thread may switch
 * to the stack again, and write records for it. Stacks without such a ring have ended.
 */
TEST_WITH(stacks_in_use_stay, setup, teardown)
{
	static const char all[] = SESSION(4200001) TASK(5000000, 4200001) TASK(4200002, 4200001)
		TASK(5000001, 4200001) TASK(5000002, 4200001);
	const int32_t tids[] = { 5000000, 5000001, 5000002 };
	struct place *p = *state;
	struct process process = { .pid = 4200001, .os_pid = 4200001 };

	p->tasks.tids = calloc(ARRAY_SIZE(tids), sizeof(*tids));
	memcpy(p->tasks.tids, tids, sizeof(tids));
	p->tasks.nr_tids = p->tasks.cap_tids = ARRAY_SIZE(tids);
	for (size_t i = 0; i < ARRAY_SIZE(tids); i++)
		assert_int_equal(tasks_claim(&p->tasks, &process, RING_TID_STACK), tids[i]);
	write_log(p, all);
	tasks_release(&p->tasks, 5000001);
	tasks_clear(&p->tasks, (int32_t[1]){ 0 }, 0);
	check_log(p, SESSION(4200001) TASK(5000000, 4200001) TASK(5000002, 4200001));
	assert_int_equal(p->tasks.nr_tids, 2);
	assert_int_equal(p->tasks.tids[0], 5000000);
	assert_int_equal(p->tasks.tids[1], 5000002);

	/* A second release changes nothing. Nor does the release of an id that is not in use. */
	tasks_release(&p->tasks, 5000001);
	tasks_release(&p->tasks, 5000003);
	tasks_release(&p->tasks, 4200002);
	tasks_release(&p->tasks, 0);
	assert_int_equal(p->tasks.nr_stacks, 2);

	/* A stack that has ended keeps its line as long as it has a file. */
	tasks_release(&p->tasks, 5000000);
	tasks_release(&p->tasks, 5000002);
	assert_int_equal(p->tasks.nr_stacks, 0);
	tasks_clear(&p->tasks, (int32_t[1]){ 5000002 }, 1);
	check_log(p, SESSION(4200001) TASK(5000002, 4200001));

	/* An id that was released is not given to a new stack. */
	assert_int_equal(tasks_claim(&p->tasks, &process, RING_TID_STACK), 5000003);
	assert_int_equal(p->tasks.stacks[0], 5000003);
}

TEST_WITH(an_empty_log_stays_empty, setup, teardown)
{
	struct place *p = *state;

	tasks_clear(&p->tasks, (int32_t[1]){ 0 }, 0);
	check_log(p, "");
	assert_int_equal(p->memory.store.error, 0);
}

TEST_WITH(children_that_live_stay_with_their_parents, setup, teardown)
{
	struct place *p = *state;
	char before[1024];
	char after[1024];
	int self = getpid();

	snprintf(before, sizeof(before),
		 SESSION(4200001) FORK(4200005, 4200001) FORK(4200006, 4200005) FORK(
			 4200007,
			 4200005) "FORK timestamp=4.000000000 pid=%d ppid=4200006\n" TASK(4200008,
											  4200005),
		 self);
	snprintf(after, sizeof(after),
		 SESSION(4200001) FORK(4200005, 4200001)
			 FORK(4200006, 4200005) "FORK timestamp=4.000000000 pid=%d ppid=4200006\n",
		 self);
	write_log(p, before);
	tasks_clear(&p->tasks, (int32_t[1]){ 0 }, 0);
	check_log(p, after);
}

/*
 * A line is kept if the file of its own task is kept. The file of a process does not keep the lines
 * of its other threads and of its children.
 */
TEST_WITH(a_file_keeps_its_own_line_alone, setup, teardown)
{
	struct place *p = *state;
	int32_t kept[] = { 4200009, 4200003, 4200006 };

	write_log(p, TASK(4200002, 4200003) TASK(4200003, 4200001) FORK(4200004, 4200003)
			     FORK(4200006, 4200001) FORK(4200007, 4200006) TASK(4200009, 4200010));
	tasks_clear(&p->tasks, kept, ARRAY_SIZE(kept));
	check_log(p, TASK(4200003, 4200001) FORK(4200006, 4200001) TASK(4200009, 4200010));
	assert_int_equal(kept[0], 4200003);
	assert_int_equal(kept[1], 4200006);
	assert_int_equal(kept[2], 4200009);
}

/* Parents are found when their lines come later, at any distance. */
TEST_WITH(parents_stay_wherever_their_lines_are, setup, teardown)
{
	static const char text[] = FORK(4200001, 4200002) FORK(4200002, 4200003)
		FORK(4200003, 4200004) FORK(4200004, 4200005) FORK(4200005, 4200006);
	struct place *p = *state;
	int32_t kept[] = { 4200001 };

	write_log(p, text);
	tasks_clear(&p->tasks, kept, 1);
	check_log(p, text);
	kept[0] = 4200004;
	tasks_clear(&p->tasks, kept, 1);
	check_log(p, FORK(4200004, 4200005) FORK(4200005, 4200006));
}

/* Parents are found in any order. */
TEST_WITH(parents_of_many_stay, setup, teardown)
{
	static const char text[] = FORK(4200016, 4200009) FORK(4200015, 4200001)
		FORK(4200014, 4200007) FORK(4200013, 4200002) FORK(4200009, 4200000)
			FORK(4200007, 4200000) FORK(4200002, 4200000) FORK(4200001, 4200000);
	struct place *p = *state;
	int32_t kept[] = { 4200013, 4200016, 4200014, 4200015 };

	write_log(p, text);
	tasks_clear(&p->tasks, kept, ARRAY_SIZE(kept));
	check_log(p, text);
}

/*
 * The lines of a forked process and its threads are removed when none of the threads has records.
 * If records of another thread of the process are saved later, the lines of the process and of its
 * parents come again, in order.
 */
TEST_WITH(forgotten_processes_are_announced_again, setup, teardown)
{
	struct place *p = *state;
	struct image session = { .exe = "/bin/a", .announced = true };
	struct process first = { .os_pid = 4200001, .session = &session };
	struct process parent = { .os_pid = 4200003,
				  .ppid = 4200001,
				  .is_fork = true,
				  .time_ns = 4000000000,
				  .parent = &first,
				  .session = &session };
	struct process child = parent;

	child.os_pid = 4200004;
	child.ppid = 4200003;
	child.parent = &parent;
	tasks_announce(&p->tasks, &parent, 4200003, 4000000000);
	assert_false(tasks_is_forgotten(&p->tasks, 4200003));
	tasks_announce(&p->tasks, &child, 4200005, 4000000000);
	tasks_announce(&p->tasks, &first, 4200002, 4000000000);
	check_log(p, FORK(4200003, 4200001) FORK(4200004, 4200003) TASK(4200005, 4200004)
			     TASK(4200002, 4200001));
	tasks_clear(&p->tasks, (int32_t[1]){ 4200005 }, 1);
	check_log(p, FORK(4200003, 4200001) FORK(4200004, 4200003) TASK(4200005, 4200004));
	assert_true(parent.announced && child.announced);
	assert_true(tasks_is_forgotten(&p->tasks, 4200002));
	assert_true(tasks_is_forgotten(&p->tasks, 4200003));
	assert_false(tasks_is_forgotten(&p->tasks, 4200005));
	assert_false(tasks_is_forgotten(&p->tasks, RING_FIRST_STACK_TID));

	tasks_clear(&p->tasks, (int32_t[1]){ 0 }, 0);
	check_log(p, "");
	assert_false(parent.announced || child.announced);
	assert_null(p->tasks.forks);
	tasks_announce(&p->tasks, &child, 4200006, 4000000000);
	check_log(p, FORK(4200003, 4200001) FORK(4200004, 4200003) TASK(4200006, 4200004));
	assert_false(tasks_is_forgotten(&p->tasks, 4200006));
	tasks_announce(&p->tasks, &parent, 4200007, 4000000000);
	check_log(p, FORK(4200003, 4200001) FORK(4200004, 4200003) TASK(4200006, 4200004)
			     TASK(4200007, 4200003));
}

TEST_WITH(blank_lines_and_half_a_line_are_left_behind, setup, teardown)
{
	struct place *p = *state;

	write_log(p, SESSION(4200001) TASK(4200002, 4200001) "FORK timest");
	tasks_clear(&p->tasks, (int32_t[1]){ 0 }, 0);
	check_log(p, SESSION(4200001));
	assert_int_equal(p->memory.store.error, 0);
}

TEST_WITH(a_log_that_cannot_be_read_stays_as_it_is, setup, teardown)
{
	struct place *p = *state;
	struct process process = { 0 };

	write_log(p, TASK(4200002, 4200001) "nonsense\n" TASK(4200003, 4200001));
	p->tasks.tids = calloc(1, sizeof(int32_t));
	p->tasks.tids[0] = 4200002;
	p->tasks.nr_tids = p->tasks.cap_tids = 1;
	intmap_put(&p->tasks.owners, 4200002, &process);
	tasks_clear(&p->tasks, (int32_t[1]){ 0 }, 0);
	check_log(p, TASK(4200002, 4200001) "nonsense\n" TASK(4200003, 4200001));
	assert_int_equal(p->memory.store.error, -EINVAL);
	assert_int_equal(p->tasks.nr_tids, 1);
	assert_ptr_equal(intmap_get(&p->tasks.owners, 4200002), &process);
	/* The function has released the lock. */
	assert_int_equal(pthread_mutex_trylock(&p->tasks.lock), 0);
	pthread_mutex_unlock(&p->tasks.lock);
}

TEST_WITH(tasks_without_a_line_are_forgotten, setup, teardown)
{
	struct place *p = *state;
	const int32_t tids[] = { 4200001, 4200002, getpid(), 4200003, 4200002, 4200004 };
	int32_t kept[] = { 4200004, 4200002 };
	struct process processes[ARRAY_SIZE(tids)] = { 0 };

	p->tasks.tids = calloc(ARRAY_SIZE(tids), sizeof(*tids));
	memcpy(p->tasks.tids, tids, sizeof(tids));
	p->tasks.nr_tids = p->tasks.cap_tids = ARRAY_SIZE(tids);
	for (size_t i = 0; i < ARRAY_SIZE(tids); i++)
		assert_int_equal(intmap_put(&p->tasks.owners, tids[i], &processes[i]), 0);
	tasks_clear(&p->tasks, kept, ARRAY_SIZE(kept));
	assert_int_equal(p->tasks.nr_tids, 4);
	assert_int_equal(p->tasks.tids[0], 4200002);
	assert_int_equal(p->tasks.tids[1], getpid());
	assert_int_equal(p->tasks.tids[2], 4200002);
	assert_int_equal(p->tasks.tids[3], 4200004);
	assert_int_equal(p->tasks.owners.nr, 3);
	assert_null(intmap_get(&p->tasks.owners, 4200001));
	assert_null(intmap_get(&p->tasks.owners, 4200003));
	assert_ptr_equal(intmap_get(&p->tasks.owners, 4200002), &processes[4]);
	assert_ptr_equal(intmap_get(&p->tasks.owners, getpid()), &processes[2]);
	assert_ptr_equal(intmap_get(&p->tasks.owners, 4200004), &processes[5]);
}
