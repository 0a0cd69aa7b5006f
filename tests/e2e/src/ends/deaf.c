/* Takes no notice of SIGINT, and calls for ever. */
#include <signal.h>

#include "../program.h"

FN void beat(void)
{
	usleep(1000);
	KEEP();
}

int main(void)
{
	signal(SIGINT, SIG_IGN);
	printf("%d\n", getpid());
	fflush(stdout);
	for (;;)
		beat();
}
