/*
 * A vforked child that calls before it becomes another program. It runs in its parent's memory and on its
 * stack, so its calls are those of a function that came back.
 * tree: main{run_child{after{}}}
 */
#include <sys/wait.h>

#include "program.h"

LEAF(after)

FN int run_child(void)
{
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	after();
	KEEP();
	return WEXITSTATUS(status);
}

int main(void)
{
	return run_child();
}
