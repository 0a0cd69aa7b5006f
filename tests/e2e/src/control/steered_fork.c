/*
 * Prints its pid, and makes calls until it reads a line. Then it forks and prints the pid of the
 * child. Parent and child make calls until their input ends.
 */
#include <poll.h>
#include <sys/wait.h>

#include "../program.h"

LEAF(leaf)
LEAF(other)

FN void round_(void)
{
	leaf();
	other();
	KEEP();
}

/* Call functions until there is a byte to read. */
static QUIET void call_until_told(void)
{
	struct pollfd in = { .events = POLLIN };

	while (poll(&in, 1, 1) == 0)
		round_();
}

int main(void)
{
	char line[5];
	pid_t child;

	setvbuf(stdout, NULL, _IONBF, 0);
	printf("%d\n", getpid());
	call_until_told();
	if (read(0, line, sizeof(line)) != sizeof(line))
		return 9;
	child = fork();
	if (child)
		printf("%d\n", child);
	call_until_told();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	puts("ended by itself");
	return 0;
}
