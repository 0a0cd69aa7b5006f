/*
 * Walks its stack by frame pointers, as a garbage collector or a profiler does. With $BACKWALK it
 * says whether each return address lies in the program, which depends on the options of the probe.
 * tree: main{outer{inner{walk{}}}}
 * cflags: -fno-omit-frame-pointer
 */
#include "program.h"

extern char __executable_start, etext;

FN void walk(void)
{
	void **frame = __builtin_frame_address(0);
	int foreign = 0;

	/*
	 * This function skips its own return address, which the probe replaces to see the end of
	 * the function.
	 */
	frame = *frame;
	for (int i = 0; i < 2; i++) {
		char *ret = frame[1];

		foreign += ret < &__executable_start || ret >= &etext;
		frame = *frame;
	}
	if (getenv("BACKWALK"))
		printf("foreign %d\n", foreign);
}

FN void inner(void)
{
	walk();
	KEEP();
}

FN void outer(void)
{
	inner();
	KEEP();
}

int main(void)
{
	outer();
	return 0;
}
