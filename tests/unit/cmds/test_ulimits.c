/* cmds/ulimits.c: a function on a larger stack. */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmds/ulimits.h"
#include "tests/unit/lib/unit.h"

#define SMALL_STACK (4UL << 20)

static bool is_child;

/* The child must not write the texts that the test has not written yet, nor look for leaks. */
static void leave_with(int status, void *arg)
{
	(void)arg;
	_exit(status);
}

/* Returns 7 in a child, and in the parent the status of the child. */
static int fork_and_return(int argc, char **argv)
{
	int status = 0;
	pid_t pid = fork();

	(void)argv;
	if (pid == 0) {
		is_child = true;
		on_exit(leave_with, NULL);
		return argc;
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
									       : -1;
}

TEST(status_of_a_child)
{
	struct rlimit before;
	struct rlimit small;

	assert_int_equal(getrlimit(RLIMIT_STACK, &before), 0);
	small = before;
	small.rlim_cur = SMALL_STACK;
	assert_int_equal(setrlimit(RLIMIT_STACK, &small), 0);
	assert_int_equal(getrlimit(RLIMIT_STACK, &small), 0);
	if (small.rlim_cur != SMALL_STACK)
		skip_because("qemu does not set the limit on stacks");

	int status = run_with_stack(fork_and_return, 7, NULL);

	/* Without a thread the child would return here. */
	if (is_child)
		_exit(100);
	assert_int_equal(setrlimit(RLIMIT_STACK, &before), 0);
	assert_int_equal(status, 7);
}
