/*
 * The program starts itself by posix_spawn().
 * status: 6
 * tree: main{spawn_child{wait_child{}}}
 * task: main{child{}}
 */
#include <spawn.h>
#include <sys/wait.h>

#include "program.h"

extern char **environ;

LEAF(child)

FN int wait_child(pid_t pid)
{
	int status;

	waitpid(pid, &status, 0);
	KEEP();
	return WEXITSTATUS(status);
}

FN int spawn_child(char *self)
{
	char *argv[] = { self, "child", NULL };
	pid_t pid;

	if (posix_spawn(&pid, self, NULL, NULL, argv, environ) != 0)
		return 99;

	int ret = wait_child(pid);

	KEEP();
	return ret;
}

int main(int argc, char *argv[])
{
	if (argc > 1) {
		child();
		return 6;
	}
	return spawn_child(argv[0]);
}
