/*
 * Recursion, a hundred thousand deep.
 */
#include <sys/resource.h>

#include "program.h"

LEAF(after)

FN int dive(int n)
{
	int r = n ? dive(n - 1) : 0;

	KEEP();
	return r + 1;
}

int main(int argc, char *argv[])
{
	struct rlimit big = { 64 << 20, RLIM_INFINITY };

	/* The stack's limit counts from the exec on. */
	if (argc == 1) {
		if (setrlimit(RLIMIT_STACK, &big) != 0)
			return 9;
	}

	int r = dive(100000 - 1);

	after();
	printf("%d\n", r);
	return 0;
}
