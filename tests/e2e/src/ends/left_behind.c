/* Leaves a child that runs on for the given number of milliseconds, and prints its pid. */
#include "../program.h"

FN void beat(void)
{
	usleep(1000);
	KEEP();
}

int main(int argc, char **argv)
{
	pid_t pid = fork();

	if (pid == 0) {
		setsid();
		for (int i = atoi(argv[1]); i > 0; i--)
			beat();
		_exit(0);
	}
	printf("%d\n", pid);
	return 4;
}
