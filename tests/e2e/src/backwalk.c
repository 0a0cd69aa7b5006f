/*
 * Walks its stack by frame pointers, like a garbage collector or a profiler does, and says whether each return address lies in
 * the program, if $BACKWALK asks: for with a probe that depends on options.
 * tree: main{outer{inner{walk{}}}}
 * cflags: -fno-omit-frame-pointer
 */
#include "program.h"

extern char __executable_start, etext;

FN void walk(void)
{
	void **frame = __builtin_frame_address(0);
	int foreign = 0;

	/* Not its own return address: by it the recorder knows when the function is over. */
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
