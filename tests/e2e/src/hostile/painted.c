/*
 * Measures how much of its own stack a call takes, hooks included. The stack is painted first, and
 * every kind of argument is passed.
 */
#include <stdint.h>
#include <ucontext.h>

#include "../program.h"

#define STACK 65536
#define PAINT 0xa5

static unsigned char stack[STACK] __attribute__((aligned(64)));
static ucontext_t outside, inside;

struct pair {
	long a, b;
};

FN double floats(double a, float b)
{
	KEEP();
	return a + b;
}

FN const char *texts(const char *a, const char *b)
{
	KEEP();
	return a ? a : b;
}

FN struct pair pairs(struct pair p, int i)
{
	KEEP();
	p.a += i;
	return p;
}

FN long many(long a, long b, long c, long d, long e, long f, long g, long h)
{
	KEEP();
	return a + b + c + d + e + f + g + h;
}

static int rounds;

QUIET static void body(void)
{
	struct pair p = { 1, 2 };

	for (int i = 0; i < rounds; i++) {
		floats(1, 2);
		texts("one text", "another one, which is longer than the first");
		texts(NULL, (const char *)0);
		p = pairs(p, i);
		many(1, 2, 3, 4, 5, 6, 7, 8);
	}
}

QUIET static void measure(int nr)
{
	long unused = 0;

	rounds = nr;
	memset(stack, PAINT, sizeof(stack));
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, body, 0);
	swapcontext(&outside, &inside);
	while (unused < STACK && stack[unused] == PAINT)
		unused++;
	printf("%ld\n", STACK - unused);
}

int main(int argc, char **argv)
{
	/*
	 * The first calls may do work that is done once. Then come common calls, then calls with
	 * work that is rare.
	 */
	measure(1);
	measure(10);
	measure(20000);
	return 0;
}
