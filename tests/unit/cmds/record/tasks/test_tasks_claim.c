/* task.txt: the process that a task belongs to, and the order of announcements. */
#include "tests/unit/lib/record/recorder.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct process make(struct image *session, pid_t pid)
{
	return (struct process){ .pid = pid, .os_pid = pid, .pidfd = -1, .session = session };
}

TEST_WITH(children_come_behind_their_parents, test_recorder_setup, test_recorder_teardown)
{
	struct test_recorder *t = *state;
	const size_t nr = 200000;
	struct process *chain = calloc(nr, sizeof(*chain));
	struct image *session = image_create(&t->rec.sessions, 1000, "/bin/x");

	assert_non_null(chain);
	for (size_t i = 0; i < nr; i++) {
		chain[i] = make(session, 1000 + i);
		chain[i].is_fork = i > 0;
		chain[i].ppid = 999 + i;
		chain[i].parent = i ? &chain[i - 1] : NULL;
	}
	/* The chain is so long that one stack frame for each process would not fit. */
	tasks_announce(&t->rec.tasks, &chain[nr - 1], 1000 + nr - 1, 5);

	char *text = test_recorder_file(t, "task.txt");
	size_t len = strlen(text);
	int32_t expected = 1000;

	/*
	 * Search in one line at a time: under a sanitizer, a search in a long text checks all of
	 * it.
	 */
	for (char *at = text, *end; (end = memchr(at, '\n', text + len - at)); at = end + 1) {
		*end = '\0';
		if (strncmp(at, "FORK", 4) != 0)
			continue;
		assert_int_equal(strtol(strstr(at, "ppid=") + strlen("ppid="), NULL, 10), expected);
		expected++;
	}
	assert_int_equal(expected, 1000 + nr - 1);
	free(text);
	free(chain);
}

static void *wait_for_end(void *arg)
{
	int *fds = arg;
	pid_t tid = syscall(SYS_gettid);
	char byte;

	assert_int_equal(write(fds[1], &tid, sizeof(tid)), sizeof(tid));
	assert_int_equal(read(fds[2], &byte, 1), 0);
	return NULL;
}

/* A thread of this process, one of another process, and one that has ended. */
TEST_WITH(a_task_is_of_who_has_it, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct image *session = image_create(&rec->sessions, getpid(), "/bin/x");
	struct process self = make(session, getpid());
	struct process other = make(session, getppid());
	int out[2];
	int in[2];
	pthread_t thread;
	pid_t tid;

	assert_true(pipe(out) == 0 && pipe(in) == 0);

	int fds[3] = { out[0], out[1], in[0] };

	assert_int_equal(pthread_create(&thread, NULL, wait_for_end, fds), 0);
	assert_int_equal(read(out[0], &tid, sizeof(tid)), sizeof(tid));

	assert_int_equal(tasks_claim(&rec->tasks, &self, getpid()), getpid());
	assert_int_equal(tasks_claim(&rec->tasks, &self, tid), tid);
	assert_int_equal(tasks_claim(&rec->tasks, &other, tid), RING_FIRST_STACK_TID);
	assert_int_equal(tasks_claim(&rec->tasks, &other, getpid()), RING_FIRST_STACK_TID + 1);
	close(in[1]);
	pthread_join(thread, NULL);

	/* The number stays this process' own until the kernel gives it to another process. */
	assert_int_equal(tasks_claim(&rec->tasks, &self, tid), tid);
	assert_int_equal(tasks_claim(&rec->tasks, &other, tid), RING_FIRST_STACK_TID + 2);

	/*
	 * A thread that ended before the recorder first saw it counts as one of this process,
	 * unless another process claims it.
	 */
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(tasks_claim(&rec->tasks, &self, child), child);
	assert_int_equal(tasks_claim(&rec->tasks, &other, child), RING_FIRST_STACK_TID + 3);
	for (int i = 0; i < 2; i++)
		close(out[i]);
	close(in[0]);
}

TEST_WITH(what_no_kernel_gives_away_is_nobodys, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct image *session = image_create(&rec->sessions, getpid(), "/bin/x");
	struct process self = make(session, getpid());

	assert_int_equal(tasks_claim(&rec->tasks, &self, 0), 0);
	assert_int_equal(tasks_claim(&rec->tasks, &self, -1), 0);
	assert_int_equal(tasks_claim(&rec->tasks, &self, RING_TID_STACK), RING_FIRST_STACK_TID);
	/* A process cannot claim a number that was given to a stack. */
	assert_int_equal(tasks_claim(&rec->tasks, &self, RING_FIRST_STACK_TID),
			 RING_FIRST_STACK_TID + 1);
	assert_int_equal(tasks_claim(&rec->tasks, &self, INT32_MAX), RING_FIRST_STACK_TID + 2);
}

/* Processes in different pid namespaces may have the same numbers. */
TEST_WITH(the_same_number_elsewhere, test_recorder_setup, test_recorder_teardown)
{
	struct recorder *rec = &((struct test_recorder *)*state)->rec;
	struct image *session = image_create(&rec->sessions, getpid(), "/bin/x");
	struct process one = make(session, 4200007);
	struct process two = make(session, 4200007);

	one.os_pid = getpid();
	two.os_pid = getppid();
	assert_int_equal(tasks_claim(&rec->tasks, &one, 4200007), getpid());
	assert_int_equal(tasks_claim(&rec->tasks, &one, 4200007), getpid());
	assert_int_equal(tasks_claim(&rec->tasks, &two, 4200007), getppid());
	/* A thread that cannot be looked up gets a number from the recorder. */
	assert_int_equal(tasks_claim(&rec->tasks, &one, 4200008), RING_FIRST_STACK_TID);
	assert_int_equal(tasks_claim(&rec->tasks, &two, 4200008), RING_FIRST_STACK_TID + 1);
}
