/*
 * Signal handlers: one after raise(), and one inside of another.
 * tree: main{work{handler{inner{}nested{inner{}}}}after{}}
 */
#include <signal.h>

#include "program.h"

LEAF(inner)
LEAF(after)

FN void nested(int sig)
{
	inner();
	KEEP();
}

FN void handler(int sig)
{
	inner();
	raise(SIGUSR2);
	KEEP();
}

FN void work(void)
{
	raise(SIGUSR1);
	KEEP();
}

int main(void)
{
	signal(SIGUSR1, handler);
	signal(SIGUSR2, nested);
	work();
	after();
	return 0;
}
