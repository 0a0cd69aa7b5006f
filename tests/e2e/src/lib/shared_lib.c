/* A library that the program is linked with; it calls back. */
#include "../program.h"

FN int lib_inner(int n)
{
	KEEP();
	return n + 1;
}

FN int lib_outer(int n, int (*back)(int))
{
	int r = back(lib_inner(n));

	KEEP();
	return r;
}
