/*
 * The victim of the attacks: a traced program that runs its arguments as an untraced child. Without
 * arguments it waits for the file "stop". It ends with status 42.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sink;

__attribute__((noinline)) static void before(void)
{
	sink++;
}

__attribute__((noinline)) static void meanwhile(void)
{
	usleep(1000);
}

__attribute__((noinline)) static void after(void)
{
	sink++;
}

int main(int argc, char **argv)
{
	char self[16];
	int status = 0;

	before();
	if (argc > 1) {
		pid_t pid;

		/* "PID" stands for this process' number. */
		snprintf(self, sizeof(self), "%d", getpid());
		for (int i = 1; i < argc; i++) {
			if (argv[i][0] == 'P' && argv[i][1] == 'I')
				argv[i] = self;
		}
		pid = fork();
		if (pid == 0) {
			unsetenv("LD_PRELOAD");
			execv(argv[1], argv + 1);
			_exit(127);
		}
		while (waitpid(pid, &status, 0) < 0)
			;
	}
	while (argc == 1 && access("stop", F_OK) < 0)
		meanwhile();
	after();
	return status ? 1 : 42;
}
