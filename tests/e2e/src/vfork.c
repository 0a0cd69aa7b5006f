/*
 * Children that share the memory of their parent, which waits until they end or execute. Two come
 * from vfork(2), one of them deep in a recursion; one comes from clone(2), on another stack. Their
 * calls are shown as theirs.
 * cflags: -D_GNU_SOURCE
 * status: 7
 * tree: main{deep{deep{deep{run_child{after{}}}}}run_child{after{}}run_clone{after{}}}
 * task: in_child{leaf{}} x2
 * task: clone_child{leaf{}}
 */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "program.h"

LEAF(after)
LEAF(leaf)

FN int in_child(int value)
{
	leaf();
	KEEP();
	return value;
}

QUIET int wait_for(pid_t pid)
{
	int status;

	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

FN int run_child(int value)
{
	pid_t pid = vfork();

	if (pid == 0) {
		if (in_child(value) == 3)
			_exit(3);
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	value = wait_for(pid);
	after();
	KEEP();
	return value;
}

FN int deep(int levels)
{
	int r = levels > 1 ? deep(levels - 1) : run_child(3);

	KEEP();
	return r;
}

FN int clone_child(void *arg)
{
	leaf();
	KEEP();
	return *(int *)arg;
}

FN int run_clone(int value)
{
	static char stack[65536] __attribute__((aligned(16)));

	value = wait_for(clone(clone_child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD,
			       &value));
	after();
	KEEP();
	return value;
}

int main(void)
{
	int r = deep(3);

	r += run_child(0);
	r += run_clone(4);
	return r;
}
