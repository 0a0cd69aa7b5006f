/* A library that is opened while the program runs. */
#include "../program.h"

static FN int inner(int n)
{
	KEEP();
	return n * 2;
}

FN int plugin(int n)
{
	int r = inner(n) + 1;

	KEEP();
	return r;
}
