/*
 * Frames whose size is known only at run time.
 * status: 7
 * tree: main{fill{use{}}fill{use{}}fill{use{}}}
 */
#include <alloca.h>

#include "program.h"

FN int use(char *p, int n)
{
	memset(p, n, n);
	KEEP();
	return p[n - 1] != 0;
}

FN int fill(int n)
{
	char *p = alloca(n);
	int r = use(p, n);

	KEEP();
	return r;
}

int main(void)
{
	return fill(1) + fill(100) * 2 + fill(100001) * 4;
}
