/* The functions that the library calls in turn. */
#include "names.h"

int deep_one(int n)
{
	return n + 1;
}

int deep_two(int n)
{
	return n + 2;
}
