/*
 * Lowers its limits to almost nothing: descriptors, file size, processes.
 * tree: main{before{}lower{}after{}}
 */
#include <sys/resource.h>

#include "program.h"

LEAF(before)
LEAF(after)

FN int lower(void)
{
	struct rlimit none = { 0, 0 };
	struct rlimit three = { 3, 3 };
	int r = setrlimit(RLIMIT_NOFILE, &three) | setrlimit(RLIMIT_FSIZE, &none) |
		setrlimit(RLIMIT_CORE, &none);

	KEEP();
	return r;
}

int main(void)
{
	before();

	int r = lower();

	after();
	return r ? 1 : 0;
}
