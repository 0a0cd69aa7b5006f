/*
 * A library without instrumentation: its functions are seen only as library calls. One of them is
 * an IFUNC.
 */
#include "names.h"

int lib_one(int n)
{
	return n + 1;
}

int lib_two(int n)
{
	return n + 2;
}

int lib_back(int (*back)(int), int n)
{
	return back(n) + 3;
}

static int chosen(int n)
{
	return n + 4;
}

static int (*choose(void))(int)
{
	return chosen;
}

int lib_ifunc(int n) __attribute__((ifunc("choose")));

/* Calls another library: a call between libraries. */
int lib_nested(int n)
{
	return deep_one(n) + deep_two(n);
}

#define DEFINE(name)      \
	int name(int n)   \
	{                 \
		return n; \
	}
FUNCTIONS(DEFINE)
