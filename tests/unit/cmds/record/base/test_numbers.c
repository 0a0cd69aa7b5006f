/* Numbers of tasks in pid namespaces. */
#include "tests/unit/lib/unit.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/record/base/numbers.h"
#include "utils/base/cleanup.h"

static bool is_listed(pid_t process, pid_t number)
{
	DIR *list cleanup_dir = numbers_list(process);
	bool is_in = false;

	assert_non_null(list);
	for (pid_t next; (next = numbers_next(list));) {
		assert_true(next > 0);
		is_in |= next == number;
	}
	assert_int_equal(numbers_next(list), 0);
	return is_in;
}

TEST(processes_are_listed)
{
	assert_true(is_listed(0, getpid()));
	assert_false(is_listed(0, INT_MAX));
	assert_true(is_listed(getpid(), getpid()));
	assert_false(is_listed(getpid(), getppid()));
	assert_null(numbers_list(INT_MAX));
}

struct thread {
	int ready[2], end[2];
	pid_t tid;
};

static void *run_thread(void *arg)
{
	struct thread *t = arg;
	char byte;

	t->tid = syscall(SYS_gettid);
	assert_int_equal(write(t->ready[1], "", 1), 1);
	assert_int_equal(read(t->end[0], &byte, 1), 1);
	return NULL;
}

TEST(a_thread_is_found_in_its_process)
{
	struct thread t;
	pthread_t thread;
	char byte;

	assert_true(pipe(t.ready) == 0 && pipe(t.end) == 0);
	assert_int_equal(pthread_create(&thread, NULL, run_thread, &t), 0);
	assert_int_equal(read(t.ready[0], &byte, 1), 1);
	assert_int_equal(numbers_of_thread(getpid(), t.tid), t.tid);
	assert_int_equal(numbers_of_thread(getpid(), getpid()), getpid());
	assert_int_equal(numbers_of_thread(getpid(), getppid()), 0);
	assert_int_equal(numbers_of_thread(INT_MAX, t.tid), 0);
	assert_true(is_listed(getpid(), t.tid));
	/* /proc does not list threads beside processes. */
	assert_false(is_listed(0, t.tid));
	assert_int_equal(write(t.end[1], "", 1), 1);
	pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		close(t.ready[i]);
		close(t.end[i]);
	}
}

/*
 * Start a child and its child, the latter in a pid namespace of its own with @is_boxed. Both wait
 * until @child gets a signal. Returns the number of the grandchild, or 0 when a right is missing.
 */
static pid_t begin_family(bool is_boxed, pid_t *child)
{
	int pipes[2];
	pid_t grandchild = 0;

	assert_int_equal(pipe(pipes), 0);
	*child = fork();
	if (*child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (is_boxed && unshare(CLONE_NEWPID) < 0)
			_exit(write(pipes[1], &grandchild, sizeof(grandchild)) < 0);
		grandchild = fork();
		if (grandchild == 0)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		else if (write(pipes[1], &grandchild, sizeof(grandchild)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(*child > 0);
	assert_int_equal(read(pipes[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	close(pipes[0]);
	close(pipes[1]);
	return grandchild;
}

static void end_family(pid_t child, pid_t grandchild)
{
	if (grandchild)
		kill(grandchild, SIGKILL);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

TEST(a_child_is_found_by_its_parent)
{
	pid_t child;
	pid_t grandchild = begin_family(false, &child);

	assert_true(grandchild > 0);
	assert_int_equal(numbers_of_child(getpid(), child), child);
	assert_int_equal(numbers_of_child(child, grandchild), grandchild);
	assert_int_equal(numbers_of_child(getpid(), grandchild), 0);
	assert_int_equal(numbers_of_child(child, child), 0);
	assert_int_equal(numbers_of_child(getpid(), INT_MAX), 0);
	assert_int_equal(numbers_of_parent(child), getpid());
	assert_int_equal(numbers_of_parent(grandchild), child);
	assert_int_equal(numbers_of_parent(getpid()), getppid());
	assert_int_equal(numbers_of_parent(INT_MAX), 0);
	end_family(child, grandchild);
}

/* The child has the number 1 in its own namespace, as the init process has outside of it. */
TEST(a_child_is_found_by_its_number_in_its_own_namespace)
{
	pid_t child;
	pid_t grandchild = begin_family(true, &child);

	if (grandchild) {
		assert_true(grandchild > 1);
		assert_int_equal(numbers_of_child(child, 1), grandchild);
		assert_int_equal(numbers_of_child(child, grandchild), 0);
		assert_int_equal(numbers_of_child(getpid(), grandchild), 0);
		assert_int_equal(numbers_of_thread(grandchild, 1), grandchild);
		assert_int_equal(numbers_of_thread(grandchild, grandchild), 0);
		assert_int_equal(numbers_of_parent(grandchild), child);
	}
	end_family(child, grandchild);
	if (!grandchild)
		skip_because("needs the right to make pid namespaces");
}
