/*
 * Sleeps in library calls before and after all of its own functions, and within main.
 * tree: main{leaf{}}
 */
#include "program.h"

LEAF(leaf)

QUIET __attribute__((constructor)) void before(void)
{
	usleep(1000);
}

QUIET __attribute__((destructor)) void after(void)
{
	usleep(1000);
}

int main(void)
{
	usleep(1000);
	leaf();
	KEEP();
	return 0;
}
