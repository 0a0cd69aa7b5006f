/*
 * Ends with a crash.
 * status: 139
 * tree: main{end{before{}
 */
#include <signal.h>

#include "program.h"

LEAF(before)

FN void end(void)
{
	before();
	fflush(stdout);
	*(volatile int *)8 = 0;
	KEEP();
}

int main(void)
{
	puts("going to end");
	end();
	return 3;
}
