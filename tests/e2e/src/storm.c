/* A timer sends signals as fast as it can while the program makes calls. */
#include <signal.h>
#include <sys/time.h>

#include "program.h"

static volatile long handled;

FN void inner(void)
{
	handled++;
	KEEP();
}

FN void handler(int sig)
{
	inner();
	KEEP();
}

FN void work(void)
{
	KEEP();
}

int main(void)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } };
	struct itimerval never = { { 0, 0 }, { 0, 0 } };

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 200000; i++)
		work();
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	puts("done");
	return 0;
}
