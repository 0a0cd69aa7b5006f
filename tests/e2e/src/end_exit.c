/*
 * Ends with exit() deep inside.
 * status: 4
 * tree: main{end{before{}
 */
#include <signal.h>

#include "program.h"

LEAF(before)

FN void end(void)
{
	before();
	fflush(stdout);
	exit(4);
	KEEP();
}

int main(void)
{
	puts("going to end");
	end();
	return 3;
}
