/*
 * Opens the library at run time. With --nest-libcall, calls from this library to other libraries
 * are recorded.
 */
#include <dlfcn.h>

#include "../program.h"

static FN int use(int mode)
{
	void *handle = dlopen("liblib.so", mode);
	int (*nested)(int);
	int r = 0;

	if (!handle)
		exit(9);
	nested = (int (*)(int))dlsym(handle, "lib_nested");
	for (int i = 0; i < 10; i++)
		r += nested(i);
	KEEP();
	return r;
}

int main(int argc, char *argv[])
{
	return use(argc > 1 ? RTLD_NOW : RTLD_LAZY) == 120 ? 0 : 1;
}
