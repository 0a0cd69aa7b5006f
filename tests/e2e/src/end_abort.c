/*
 * Ends with abort().
 * status: 134
 * tree: main{end{before{}
 */
#include <signal.h>

#include "program.h"

LEAF(before)

FN void end(void)
{
	before();
	fflush(stdout);
	abort();
	KEEP();
}

int main(void)
{
	puts("going to end");
	end();
	return 3;
}
