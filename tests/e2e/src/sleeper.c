/*
 * Says its pid and sleeps.
 */
#include "program.h"

FN void nap(void)
{
	sleep(100);
	KEEP();
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("%d\n", getpid());
	nap();
	return 0;
}
