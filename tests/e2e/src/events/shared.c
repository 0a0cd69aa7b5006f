/* A program that is linked with a library. Both have probes.
 *
 * shows: main{e:start lib_work{lib:begin lib_helper{lib:helper} lib:end} e:end}
 * lib: events/lib.c
 * ldflags: -llib
 */
#include <stdio.h>

#include "part.h"

int lib_work(int n);

int main(void)
{
	DTRACE_PROBE(e, start);
	printf("%d\n", lib_work(20));
	DTRACE_PROBE(e, end);
	return 0;
}
