/*
 * dlopen() and dlsym() depend on their caller: the program, or the library that it calls
 * (finder.c).
 */
#include <dlfcn.h>

#include "../program.h"

int which(void);
void *finder_next(const char *name);
void *finder_jumps(const char *name);
void *finder_opens(const char *file);
void *finder_jumps_open(const char *file);

FN int which(void)
{
	KEEP();
	return 1;
}

static int ask(void *fn)
{
	return fn ? ((int (*)(void))fn)() : 0;
}

int main(void)
{
	/* The RUNPATH of the library leads to this file, the program's does not. */
	const char *plug = "libplug.so";

	printf("%d %d\n", ask(dlsym(RTLD_DEFAULT, "which")), ask(dlsym(RTLD_NEXT, "which")));
	printf("%d %d\n", ask(finder_next("which")), ask(finder_jumps("which")));
	printf("%d %d\n", !!dlopen(plug, RTLD_NOW), !!dlsym(RTLD_NEXT, "no_such"));
	printf("%d %d\n", !!finder_opens(plug), !!finder_jumps_open(plug));
	return 0;
}
