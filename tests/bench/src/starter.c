/* Runs a program NUMBER times, one run after the other: starter NUMBER PROGRAM */
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
	char *const arguments[] = { argv[2], NULL };

	for (int i = atoi(argv[1]); i > 0; i--) {
		pid_t pid;

		if (posix_spawn(&pid, argv[2], NULL, NULL, arguments, environ) != 0)
			return 1;
		waitpid(pid, NULL, 0);
	}
	return 0;
}
