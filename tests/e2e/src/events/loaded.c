/* A library with probes is loaded, closed, and loaded again at the same place.
 *
 * shows: main{e:start use{lib_work{lib:begin lib_helper{lib:helper} lib:end}} use{lib_work{lib:begin lib_helper{lib:helper}
 *        lib:end}} use{lib_work{lib:begin lib_helper{lib:helper} lib:end}} e:end}
 * lib: events/lib.c
 */
#include <dlfcn.h>
#include <stdio.h>

#include "part.h"

PART void use(const char *name)
{
	void *lib = dlopen(name, RTLD_NOW);
	int (*work)(int) = lib ? (int (*)(int))dlsym(lib, "lib_work") : NULL;

	if (!work) {
		printf("%s\n", dlerror());
		return;
	}
	printf("%d\n", work(20));
	dlclose(lib);
}

int main(int argc, char **argv)
{
	char path[4096];
	char *slash;

	snprintf(path, sizeof(path), "%s", argv[0]);
	for (slash = path; *slash; slash++)
		;
	while (slash > path && slash[-1] != '/')
		slash--;
	snprintf(slash, sizeof(path) - (slash - path), "liblib.so");
	DTRACE_PROBE(e, start);
	use(path);
	use(path);
	use(path);
	DTRACE_PROBE(e, end);
	return 0;
}
