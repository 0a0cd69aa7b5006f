/*
 * Ends by returning from main.
 * status: 3
 * tree: main{end{before{}}}
 */
#include <signal.h>

#include "program.h"

LEAF(before)

FN void end(void)
{
	before();
	fflush(stdout);
	KEEP();
}

int main(void)
{
	puts("going to end");
	end();
	return 3;
}
