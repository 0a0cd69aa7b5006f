/*
 * A function that is larger than 200 bytes, and its callers, which are not.
 * tree: main{small{large{}}}
 */
#include "program.h"

FN void large(void)
{
	__asm__ volatile(".fill 300, 1, 0x90" ::: "memory");
}

FN void small(void)
{
	large();
	KEEP();
}

int main(void)
{
	small();
	return 0;
}
