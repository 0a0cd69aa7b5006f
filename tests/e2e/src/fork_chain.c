/*
 * A child has a child has a child, ten deep; each one waits for its own.
 * status: 10
 * tree: main{chain{note{}wait_for{}}}
 * task: chain{note{}wait_for{}} x8
 * task: chain{note{}}
 */
#include <sys/wait.h>

#include "program.h"

LEAF(note)

FN int wait_for(pid_t pid)
{
	int status = 0;

	waitpid(pid, &status, 0);
	KEEP();
	return WEXITSTATUS(status);
}

FN int chain(int level)
{
	int below = 0;

	note();
	if (level < 10) {
		pid_t pid = fork();

		if (pid == 0)
			exit(chain(level + 1));
		below = wait_for(pid);
	}
	KEEP();
	return below + 1;
}

int main(void)
{
	return chain(1);
}
