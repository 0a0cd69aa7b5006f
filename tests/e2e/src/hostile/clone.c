/*
 * Threads of clone(2) without libc's knowledge: they have their creator's thread-local storage.
 * cflags: -D_GNU_SOURCE
 */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "../program.h"

static int counter;

LEAF(leaf)

FN int child(void *arg)
{
	for (int i = 0; i < 100; i++) {
		leaf();
		counter += *(int *)arg;
	}
	KEEP();
	return 0;
}

FN int spawn(int flags, int value)
{
	static char stack[65536] __attribute__((aligned(16)));
	pid_t pid = clone(child, stack + sizeof(stack), flags, &value);
	int status = -1;

	waitpid(pid, &status, __WALL);
	KEEP();
	return status;
}

int main(void)
{
	int r = 0;

	for (int i = 0; i < 20; i++) {
		r += spawn(CLONE_VM | CLONE_VFORK | SIGCHLD, 2);
		r += spawn(SIGCHLD, 3);
		leaf();
	}
	r += spawn(CLONE_VM | SIGCHLD, 1);
	leaf();
	printf("%d %d\n", r, counter);
	return 0;
}
