/* A walk of the stack during a moved call sees the program's own code only.
 *
 * shows: main{outer{e:outer middle{e:middle inner{}}}}
 * cflags: -funwind-tables
 * ldflags: -rdynamic
 */
#include <execinfo.h>
#include <stdio.h>
#include <string.h>

#include "part.h"

PART int inner(int n)
{
	void *frames[16];
	int nr = backtrace(frames, 16);
	char **names = backtrace_symbols(frames, nr);

	for (int i = 0; i < nr; i++) {
		const char *name = strrchr(names[i], '/');

		/* The line leaves out the address, which differs in each run. */
		name = name ? name : names[i];
		printf("%.*s\n", (int)strcspn(name, "["), name);
	}
	return n;
}

PART int middle(int n)
{
	DTRACE_PROBE(e, middle);
	n = inner(n);
	OPAQUE(n);
	return n + 1;
}

PART int outer(int n)
{
	DTRACE_PROBE(e, outer);
	n = middle(n);
	OPAQUE(n);
	return n + 1;
}

int main(void)
{
	return outer(1);
}
