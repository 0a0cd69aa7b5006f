/*
 * Kills itself by SIGKILL, which nothing can handle.
 * status: 137
 * tree: main{end{before{}
 */
#include <signal.h>

#include "program.h"

LEAF(before)

FN void end(void)
{
	before();
	fflush(stdout);
	kill(getpid(), SIGKILL);
	KEEP();
}

int main(void)
{
	puts("going to end");
	end();
	return 3;
}
