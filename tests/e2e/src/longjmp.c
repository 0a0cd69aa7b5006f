/*
 * longjmp over several frames, twice to the same place, and on to calls at the same depth.
 * status: 2
 * xfail[clang cyg O2 pie]: after()'s frame lies deeper than the one that was jumped out of, so it seems to be inside
 * xfail[clang cyg Os pie]: after()'s frame lies deeper than the one that was jumped out of, so it seems to be inside
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
