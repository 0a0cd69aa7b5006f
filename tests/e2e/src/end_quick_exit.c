/*
 * Ends with quick_exit() deep inside.
 * status: 6
 * tree: main{end{before{}
 */
#include <signal.h>

#include "program.h"

LEAF(before)

FN void end(void)
{
	before();
	fflush(stdout);
	quick_exit(6);
	KEEP();
}

int main(void)
{
	puts("going to end");
	end();
	return 3;
}
