/* A library whose functions another library (lib.c) calls. */
#include "names.h"

int deep_one(int n)
{
	return n + 1;
}

int deep_two(int n)
{
	return n + 2;
}
