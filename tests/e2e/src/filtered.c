/*
 * A tree with everything that filters look at: functions on several levels, recursion, a long call,
 * library calls, functions of different sizes.
 * tree: main{first{second{third{fourth{fifth{}}}fourth{fifth{}}}fifth{}}second{third{fourth{fifth{}}}fourth{fifth{}}}
 *      again{again{again{again{fourth{fifth{}}}}}}fourth{fifth{}}}
 */
#include "program.h"

#include <unistd.h>

#ifndef NAP_US
#define NAP_US 2000
#endif

LEAF(fifth)

FN void fourth(void)
{
	fifth();
	KEEP();
}

FN void third(int us)
{
	fourth();
	KEEP();
	if (us)
		usleep(us);
	KEEP();
}

FN void second(int us)
{
	third(us);
	fourth();
	KEEP();
}

FN void first(int us)
{
	second(us);
	fifth();
	KEEP();
}

FN int again(int levels)
{
	if (levels <= 0) {
		fourth();
		return 0;
	}

	int deeper = again(levels - 1);

	KEEP();
	return deeper + 1;
}

int main(void)
{
	first(NAP_US);
	second(0);
	again(3);
	puts("done");
	fourth();
	return 0;
}
