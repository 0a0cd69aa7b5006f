/*
 * Makes a thousand longjmps from changing depths, past frames that use alloca().
 */
#include <alloca.h>
#include <setjmp.h>

#include "program.h"

static jmp_buf env;

LEAF(after)

FN void leap(int depth)
{
	char *p = alloca(depth * 16 + 1);

	p[0] = 1;
	KEEP();
	longjmp(env, p[0]);
}

FN void dig(int depth)
{
	if (depth)
		dig(depth - 1);
	else
		leap(depth);
	KEEP();
}

int main(void)
{
	volatile int i = 0;

	if (setjmp(env) != 0)
		i++;
	if (i < 1000)
		dig(i % 7);
	after();
	printf("%d\n", i);
	return 0;
}
