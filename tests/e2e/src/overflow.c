/*
 * Recursion without an end.
 */
#include "program.h"

FN int dive(volatile char *outer)
{
	volatile char here[1000];

	here[0] = outer[0] + 1;

	int r = dive(here) + here[0];

	KEEP();
	return r;
}

int main(void)
{
	volatile char start[1] = "";

	return dive(start);
}
