/*
 * Forks when it is told to by a byte on its standard input.
 */
#include <sys/wait.h>

#include "program.h"

LEAF(leaf)

FN int split(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		leaf();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	KEEP();
	return 0;
}

int main(void)
{
	char byte;

	leaf();
	printf("ready\n");
	fflush(stdout);
	if (read(0, &byte, 1) != 1)
		return 1;
	return split();
}
