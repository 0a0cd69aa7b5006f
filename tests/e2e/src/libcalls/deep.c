/* Functions that the library calls. */
#include "names.h"

int deep_one(int n)
{
	return n + 1;
}

int deep_two(int n)
{
	return n + 2;
}
