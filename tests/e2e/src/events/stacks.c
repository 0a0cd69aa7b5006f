/* Events on a coroutine's stack, which the program allocates. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "part.h"

static ucontext_t home, there;

PART void step(int n)
{
	DTRACE_PROBE1(e, step, n);
	OPAQUE(n);
}

PART void body(void)
{
	for (int i = 0; i < 3; i++) {
		DTRACE_PROBE1(e, there, i);
		step(i);
		swapcontext(&there, &home);
	}
}

int main(void)
{
	getcontext(&there);
	there.uc_stack.ss_size = 1 << 16;
	there.uc_stack.ss_sp = malloc(there.uc_stack.ss_size);
	there.uc_link = &home;
	makecontext(&there, body, 0);
	for (int i = 0; i < 4; i++) {
		DTRACE_PROBE1(e, home, i);
		swapcontext(&home, &there);
		printf("%d\n", i);
	}
	return 0;
}
