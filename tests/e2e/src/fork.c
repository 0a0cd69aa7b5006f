/*
 * A child that returns through the frames that it inherited.
 * status: 4
 * tree: main{split{before{}parent{}}wait_child{}}
 * task: child{}~split~main
 */
#include <sys/wait.h>

#include "program.h"

LEAF(before)
LEAF(child)
LEAF(parent)

FN pid_t split(void)
{
	before();

	pid_t pid = fork();

	if (pid)
		parent();
	else
		child();
	KEEP();
	return pid;
}

FN int wait_child(pid_t pid)
{
	int status;

	waitpid(pid, &status, 0);
	KEEP();
	return WEXITSTATUS(status) + 1;
}

int main(void)
{
	pid_t pid = split();

	return pid ? wait_child(pid) : 3;
}
