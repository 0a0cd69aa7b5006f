/* Children that the program makes by clone(2), _Fork(3) and syscall(2). */
#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libmcount/hot/probe.h"
#include "libmcount/system/arena.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

extern pid_t _Fork(void);

static struct pair pair;
static struct arena *arena;

static int setup(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	arena = pair.proc->arena;
	self = pair_thread();
	assert_non_null(self);
	return 0;
}

static int teardown(void **state)
{
	pair_stop(&pair);
	pair_close(&pair);
	atomic_store(&probe_threads, NULL);
	return 0;
}

/* Check that @nr forks were counted. The recorder waits for a report of each of these children. */
static void expect_forks(uint32_t nr)
{
	assert_int_equal(arena->forks.begun, nr);
	arena->forks.begun = 0;
}

TEST_WITH(system_calls_that_make_children, setup, teardown)
{
	static const struct clone_args forks = { .exit_signal = SIGCHLD };
	static const struct clone_args shares = { .flags = CLONE_VM | CLONE_VFORK };
	static const struct {
		long number;
		uint64_t first, second;
		uint32_t child;
		uint32_t forks;
	} cases[] = {
		/* fork(2) and vfork(2) have no arguments: the registers may have any values. */
		{ SYS_fork, CLONE_VM, 0, PROBE_CHILD_FORKED, 1 },
		{ SYS_fork, 0, 0, PROBE_CHILD_FORKED, 1 },
		{ SYS_vfork, 0, 0, PROBE_CHILD_LENT, 0 },
		{ SYS_vfork, CLONE_VM | CLONE_SETTLS, 8, PROBE_CHILD_LENT, 0 },
		{ SYS_clone, SIGCHLD, 0, PROBE_CHILD_FORKED, 1 },
		{ SYS_clone, SIGCHLD, 4096, PROBE_CHILD_FORKED, 1 },
		{ SYS_clone, CLONE_VFORK, 0, PROBE_CHILD_FORKED, 1 },
		{ SYS_clone, CLONE_SETTLS, 0, PROBE_CHILD_FORKED, 1 },
		{ SYS_clone, CLONE_VM | CLONE_VFORK, 0, PROBE_CHILD_LENT, 0 },
		{ SYS_clone, CLONE_VM | CLONE_VFORK, 4096, PROBE_CHILD_NONE, 0 },
		{ SYS_clone, CLONE_VM | CLONE_VFORK | CLONE_SETTLS, 0, PROBE_CHILD_NONE, 0 },
		{ SYS_clone, CLONE_VM | CLONE_SETTLS, 0, PROBE_CHILD_NONE, 0 },
		{ SYS_clone3, (uint64_t)&forks, 0, PROBE_CHILD_FORKED, 1 },
		{ SYS_clone3, (uint64_t)&shares, 0, PROBE_CHILD_NONE, 0 },
		{ SYS_clone3, 8, 0, PROBE_CHILD_NONE, 0 },
		{ SYS_prctl, 0, 0, PROBE_CHILD_NONE, 0 },
		{ SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, PROBE_CHILD_NONE, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct thread *before = self;

		assert_int_equal(probe_syscall(cases[i].number, cases[i].first, cases[i].second, 0),
				 cases[i].child);
		expect_forks(cases[i].forks);
		assert_ptr_equal(self, before);
		assert_int_equal(arena->threads_shared + arena->threads_caged, 0);
	}
}

/* A child with this thread's storage runs at the same time, so this thread is traced no more. */
TEST_WITH(a_child_that_shares_its_storage_cuts_the_thread_off, setup, teardown)
{
	static const struct clone_args shares = { .flags = CLONE_VM | CLONE_FILES };

	assert_int_equal(probe_syscall(SYS_clone, CLONE_VM, 0, 0), PROBE_CHILD_NONE);
	assert_int_equal(arena->threads_shared, 1);
	self = pair_thread();
	assert_int_equal(probe_syscall(SYS_clone3, (uint64_t)&shares, 0, 0), PROBE_CHILD_NONE);
	assert_int_equal(arena->threads_shared, 2);
	expect_forks(0);
}

TEST_WITH(strict_mode_cuts_the_thread_off, setup, teardown)
{
	assert_int_equal(probe_syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, 0),
			 PROBE_CHILD_NONE);
	assert_int_equal(arena->threads_caged, 1);
}

TEST(errno_of_a_failed_call)
{
	errno = 0;
	assert_int_equal(probe_syscall_failed(-EAGAIN), -1);
	assert_int_equal(errno, EAGAIN);
}

/* Memory that child and test share. */
static struct said {
	int value;
	int forked;
	bool has_ring;
} * said;

/* The child ends at once, with the value as its status. */
static int tell(void *arg)
{
	*said = (struct said){ *(int *)arg, probe.forked, self && self->ring };
	_exit(said->value);
}

static void await(pid_t pid, int value)
{
	int status;

	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, __WALL), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), value);
}

static int with_shared(void **state)
{
	said = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(said, MAP_FAILED);
	return setup(state);
}

static int without_shared(void **state)
{
	munmap(said, 4096);
	return teardown(state);
}

/* The child is another process, which reports itself at its first call. */
TEST_WITH(children_know_that_they_are_new, with_shared, without_shared)
{
	static char stack[65536] __attribute__((aligned(16)));
	int value = 41;
	pid_t pid = clone(tell, stack + sizeof(stack), SIGCHLD, &value);

	await(pid, 41);
	assert_int_equal(said->value, 41);
	assert_int_not_equal(said->forked, FORK_NONE);
	assert_false(said->has_ring);
	expect_forks(1);
	assert_int_equal(probe.forked, FORK_NONE);
	assert_non_null(self->ring);

	memset(said, 0, sizeof(*said));
	value = 42;
	pid = _Fork();
	if (pid == 0)
		tell(&value);
	if (pid < 0 && errno == ENOSYS)
		skip_because("_Fork() exists since glibc 2.34");
	await(pid, 42);
	assert_int_not_equal(said->forked, FORK_NONE);
	assert_false(said->has_ring);
	expect_forks(1);
	assert_int_equal(probe.forked, FORK_NONE);
}

/* The kernel refuses the call: its error comes back, and no fork was begun. */
TEST_WITH(a_refused_clone, setup, teardown)
{
	static char stack[4096] __attribute__((aligned(16)));

	errno = 0;
	assert_int_equal(clone(NULL, stack + sizeof(stack), SIGCHLD, NULL), -1);
	assert_int_equal(errno, EINVAL);
	expect_forks(0);
	/* CLONE_SIGHAND needs CLONE_VM, and CLONE_THREAD needs CLONE_SIGHAND. */
	errno = 0;
	assert_int_equal(
		clone(tell, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | CLONE_THREAD, stack),
		-1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(self->busy, 0);
	expect_forks(0);
}
