/*
 * Functions that run before and after main by attribute.
 * tree: early{leaf{}}main{}late{leaf{}}
 */
#include "program.h"

LEAF(leaf)

__attribute__((constructor)) FN void early(void)
{
	leaf();
	KEEP();
}

__attribute__((destructor)) FN void late(void)
{
	leaf();
	KEEP();
}

int main(void)
{
	return 0;
}
