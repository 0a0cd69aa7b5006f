/*
 * Ends with _exit() deep inside.
 * status: 5
 * tree: main{end{before{}
 */
#include <signal.h>

#include "program.h"

LEAF(before)

FN void end(void)
{
	before();
	fflush(stdout);
	_exit(5);
	KEEP();
}

int main(void)
{
	puts("going to end");
	end();
	return 3;
}
