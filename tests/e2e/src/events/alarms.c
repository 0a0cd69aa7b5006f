/* Signal handlers that have events interrupt code that has events, and the probe's hooks in it. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#include "part.h"

static volatile sig_atomic_t rings;

PART void ring(int sig)
{
	DTRACE_PROBE(e, ring);
	rings++;
}

PART int step(int n)
{
	DTRACE_PROBE1(e, step, n);
	return n & 3;
}

int main(void)
{
	struct sigaction action = { .sa_handler = ring };
	struct itimerval often = { { 0, 50 }, { 0, 50 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };
	long sum = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 400000; i++)
		sum += step(i);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%ld %s\n", sum, rings > 0 ? "rang" : "quiet");
	fprintf(stderr, "%d\n", (int)rings);
	return 0;
}
