/*
 * A timer runs a signal handler, which mostly interrupts the probe. The program counts the runs,
 * and leaves half of them by siglongjmp.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#include "program.h"

#define ROUNDS 60

static sigjmp_buf env;
static volatile long handled;

LEAF(inner)
LEAF(leaf)

FN void handler_work(void)
{
	inner();
	inner();
	handled++;
}

static void on_alarm(int sig)
{
	handler_work();
	if (handled % 2)
		siglongjmp(env, 1);
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct itimerval timer = { { 0, 200 }, { 0, 200 } };

	sigaction(SIGALRM, &action, NULL);
	/* The first handler may run at once, and jump. */
	if (!sigsetjmp(env, 1))
		setitimer(ITIMER_REAL, &timer, NULL);
	while (handled < ROUNDS)
		leaf();
	timer = (struct itimerval){ 0 };
	setitimer(ITIMER_REAL, &timer, NULL);
	fprintf(stderr, "%ld\n", handled);
	return 0;
}
