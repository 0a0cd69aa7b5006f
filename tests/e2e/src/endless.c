/*
 * Prints its pid, then makes calls until SIGTERM, and at last prints the number of its rounds. Its
 * argument is the number of microseconds that it sleeps after each thousand rounds.
 */
#include <signal.h>

#include "program.h"

static volatile sig_atomic_t ended;

/* Not instrumented, so that the tree has calls of one kind only. */
static QUIET void on_term(int sig)
{
	ended = 1;
}

LEAF(leaf)

FN void round_(void)
{
	leaf();
	leaf();
	KEEP();
}

int main(int argc, char **argv)
{
	int pause_us = argc > 1 ? atoi(argv[1]) : 100;
	long rounds = 0;

	setvbuf(stdout, NULL, _IONBF, 0);
	signal(SIGTERM, on_term);
	printf("%d\n", getpid());
	while (!ended) {
		for (int i = 0; i < 1000; i++)
			round_();
		rounds += 1000;
		if (rounds % 20000 == 0)
			printf("%ld\n", rounds);
		usleep(pause_us);
	}
	puts("ended by itself");
	return 0;
}
