/*
 * Ends well when nothing of gprof runs: neither its timer nor its handler of SIGPROF. It starts and
 * stops gprof itself, without effect.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

extern void moncontrol(int on);
extern void monstartup(unsigned long low, unsigned long high);

static int is_on(void)
{
	struct itimerval timer;
	struct sigaction action;

	getitimer(ITIMER_PROF, &timer);
	sigaction(SIGPROF, NULL, &action);
	return timer.it_interval.tv_usec != 0 || action.sa_handler != SIG_DFL;
}

int main(void)
{
	int before = is_on();

	monstartup((unsigned long)main, (unsigned long)main + 4096);
	moncontrol(1);
	printf("%d %d\n", before, is_on());
	return 0;
}
