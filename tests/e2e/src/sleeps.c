/*
 * Functions that take a known time at least.
 * tree: main{nap_10ms{}quick{}outer{nap_30ms{}quick{}}nap_30ms{}}
 */
#include "program.h"

LEAF(quick)

FN void nap_10ms(void)
{
	usleep(10000);
	KEEP();
}

FN void nap_30ms(void)
{
	usleep(30000);
	KEEP();
}

FN void outer(void)
{
	nap_30ms();
	quick();
	KEEP();
}

int main(void)
{
	nap_10ms();
	quick();
	outer();
	nap_30ms();
	return 0;
}
