/*
 * All ways in which the exit of a call without a frame (a filter left it alone) could be taken for
 * another call's exit: recursion through another function, stack pointers that have moved since the
 * entry, functions inlined into each other, and a jump out of them.
 * tree: main{around{between{around{between{around{}}}}}grow{inner{grow{inner{}leaf{}}}leaf{}}part{leaf{}leaf{}}leaf{}jumper{dive{dive{dive{}}}leaf{}}leaf{}}
 * tree[cyg]: main{around{between{around{between{around{}}}}}grow{inner{grow{inner{}leaf{}}}leaf{}}part{within_twice{within{leaf{}}within{leaf{}}}}leaf{}jumper{dive{dive{dive{}}}leaf{}}leaf{}}
 */
#include <alloca.h>
#include <setjmp.h>

#include "program.h"

static jmp_buf env;

LEAF(leaf)

FN void around(int n);

FN void between(int n)
{
	around(n);
	KEEP();
}

FN void around(int n)
{
	if (n)
		between(n - 1);
	KEEP();
}

FN void grow(int n);

FN void inner(int n)
{
	if (n)
		grow(n - 1);
	KEEP();
}

/* The exit hook of grow() gets a lower stack pointer than its entry hook. */
FN void grow(int n)
{
	volatile char *room = alloca(100 * n + 200);

	room[0] = 1;
	inner(n);
	leaf();
	KEEP();
}

static inline __attribute__((always_inline)) void within(int n)
{
	leaf();
	KEEP();
}

static inline __attribute__((always_inline)) void within_twice(int n)
{
	within(n);
	within(n);
}

FN void part(void)
{
	within_twice(1);
	KEEP();
}

FN void dive(int n)
{
	if (!n)
		longjmp(env, 1);
	dive(n - 1);
	KEEP();
}

FN void jumper(void)
{
	if (!setjmp(env))
		dive(2);
	leaf();
	KEEP();
}

int main(void)
{
	around(2);
	grow(1);
	part();
	leaf();
	jumper();
	leaf();
	return 0;
}
