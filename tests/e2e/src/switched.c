/*
 * Raises signals between its calls. With an argument it handles the first of them itself.
 * tree: main{one{}two{}three{}}
 */
#include "program.h"

#include <signal.h>

LEAF(one)
LEAF(two)
LEAF(three)

volatile int counter;
static volatile int handled;

QUIET static void handle(int sig)
{
	handled++;
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		signal(SIGUSR1, handle);
		signal(SIGUSR2, handle);
	} else {
		signal(SIGUSR1, SIG_IGN);
		signal(SIGUSR2, SIG_IGN);
	}
	one();
	counter++;
	raise(SIGUSR1);
	two();
	counter++;
	raise(SIGUSR2);
	three();
	printf("handled %d\n", handled);
	return 0;
}
