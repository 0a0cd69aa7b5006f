/* This library has its own which(), and finds the next one by RTLD_NEXT. */
#include <dlfcn.h>

int which(void);
void *finder_next(const char *name);
void *finder_jumps(const char *name);
void *finder_opens(const char *file);
void *finder_jumps_open(const char *file);

int which(void)
{
	return 2;
}

void *finder_next(const char *name)
{
	void *volatile found = dlsym(RTLD_NEXT, name);

	return found;
}

/* This call becomes a jump, so its return address is in the program. */
void *finder_jumps(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

void *finder_opens(const char *file)
{
	void *volatile found = dlopen(file, RTLD_NOW);

	return found;
}

void *finder_jumps_open(const char *file)
{
	return dlopen(file, RTLD_NOW);
}
