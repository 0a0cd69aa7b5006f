/*
 * Runs itself with environments that it makes up: one child for each function that executes with an
 * environment, and one that has emptied its own. The last child is not recorded.
 * tree: main{before{}spawned{}spawned{}spawned{}spawned{}spawned{}spawned{}after{}}
 * task: main{child{}} x5
 */
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include "program.h"

LEAF(before)
LEAF(after)
LEAF(child)

static char *const little[] = { "A=b", "LD_PRELOAD=", NULL };

/*
 * Prints the value of A, and the number of variables that are neither A nor the probe's: recording
 * must not add any.
 */
static QUIET int look(void)
{
	extern char **environ;
	int others = 0;

	for (char **e = environ; *e; e++) {
		others += strncmp(*e, "LD_PRELOAD=", 11) != 0 && strncmp(*e, "UTRAIL_", 7) != 0 &&
			  strcmp(*e, "A=b") != 0;
	}
	printf("%d others, A=%s\n", others, getenv("A") ? getenv("A") : "");
	return 0;
}

static QUIET void run(int way, char **self)
{
	char *const argv[] = { self[0], "child", NULL };

	switch (way) {
	case 2:
		execve(self[0], argv, little);
		break;
	case 3:
		execvpe(self[0], argv, little);
		break;
	case 4:
		fexecve(open(self[0], O_RDONLY), argv, little);
		break;
	default:
		clearenv();
		execv(self[0], argv);
	}
	_exit(9);
}

FN void spawned(int way, char **self)
{
	char *const argv[] = { self[0], "child", NULL };
	pid_t pid;
	int status;

	fflush(stdout);
	if (way == 0)
		posix_spawn(&pid, self[0], NULL, NULL, argv, little);
	else if (way == 1)
		posix_spawnp(&pid, self[0], NULL, NULL, argv, little);
	else if ((pid = vfork()) == 0)
		run(way, self);
	waitpid(pid, &status, 0);
	printf("way %d: %d\n", way, WEXITSTATUS(status));
}

int main(int argc, char *argv[])
{
	if (argc > 1) {
		child();
		return look();
	}
	before();
	for (int way = 0; way < 6; way++)
		spawned(way, argv);
	after();
	return 0;
}
