/* Functions that are left without returning.
 *
 * shows: main{e:set first{second{e:deep}} e:caught first{second{e:deep}} e:caught e:end}
 */
#include <setjmp.h>
#include <stdio.h>

#include "part.h"

static jmp_buf place;

PART void second(int n)
{
	DTRACE_PROBE1(e, deep, n);
	OPAQUE(n);
	longjmp(place, n);
}

PART int first(int n)
{
	second(n);
	return n;
}

int main(void)
{
	volatile int times = 0;
	int n;

	DTRACE_PROBE(e, set);
	n = setjmp(place);
	if (n) {
		DTRACE_PROBE1(e, caught, n);
		printf("%d\n", n);
	}
	if (times++ < 2)
		return first(times);
	DTRACE_PROBE(e, end);
	return 0;
}
