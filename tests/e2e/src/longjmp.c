/*
 * Two longjmps over several frames to the same place, and calls at the same depth after them.
 * status: 2
 * tree: main{tries{deep{deeper{deepest{}}}deep{deeper{deepest{}}}after{}}after{}}
 */
#include <setjmp.h>

#include "program.h"

static jmp_buf env;

LEAF(after)

FN void deepest(int n)
{
	longjmp(env, n);
}

FN void deeper(int n)
{
	deepest(n);
	KEEP();
}

FN void deep(int n)
{
	deeper(n);
	KEEP();
}

FN int tries(void)
{
	volatile int count = 0;
	int back = setjmp(env);

	if (back < 2) {
		count++;
		deep(back + 1);
	}
	after();
	KEEP();
	return count;
}

int main(void)
{
	int n = tries();

	after();
	return n;
}
