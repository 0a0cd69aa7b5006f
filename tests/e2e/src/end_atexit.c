/*
 * A handler runs after main() has returned.
 * tree: main{before{}}last{}
 */
#include "program.h"

LEAF(before)
LEAF(last)

int main(void)
{
	atexit(last);
	before();
	return 0;
}
