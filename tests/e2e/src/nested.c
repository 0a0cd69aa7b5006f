/*
 * Functions inside functions, called directly and through a pointer (a trampoline on the stack).
 * The nops of -mnop-mcount in inner functions cannot be found: they stand after the push of the
 * pointer to the outer function.
 * only: gcc
 * status: 16
 * ldflags: -z execstack
 * tree: main{outer{direct{}apply{inner{}}apply{inner{}}}}
 * tree[nops]: main{outer{apply{}apply{}}}
 */
#include "program.h"

FN int apply(int (*fn)(int), int n)
{
	int r = fn(n);

	KEEP();
	return r;
}

FN int outer(int base)
{
	FN int direct(int n)
	{
		KEEP();
		return base + n;
	}
	FN int inner(int n)
	{
		KEEP();
		return base + n;
	}

	int r = direct(1) + apply(inner, 2) + apply(inner, 3);

	KEEP();
	return r - base;
}

int main(void)
{
	return outer(5);
}
