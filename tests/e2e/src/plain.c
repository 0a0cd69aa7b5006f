/*
 * Plain calls, one level and several.
 * tree: main{a{b{c{}}}b{c{}}c{}}
 */
#include "program.h"

LEAF(c)

FN void b(void)
{
	c();
	KEEP();
}

FN void a(void)
{
	b();
	KEEP();
}

int main(void)
{
	a();
	b();
	c();
	puts("done");
	return 0;
}
