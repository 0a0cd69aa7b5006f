/*
 * After daemon(3) the parent ends at once; the child goes on and is recorded to its end.
 * tree: main{before{}go{
 * task: inside{}after{}~go~main
 */
#include "program.h"

LEAF(before)
LEAF(inside)
LEAF(after)

FN void go(void)
{
	/* The working directory and the output stay: what the child writes still arrives. */
	if (daemon(1, 1) < 0)
		exit(9);
	inside();
	usleep(50000);
	after();
	KEEP();
}

int main(void)
{
	before();
	go();
	puts("daemon done");
	return 0;
}
