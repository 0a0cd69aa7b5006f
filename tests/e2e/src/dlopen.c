/*
 * Opens an instrumented library, calls into it, closes it, and repeats that.
 * lib: lib/plugin.c
 * ldflags: -ldl
 * tree: main{use{plugin{inner{}}}use{plugin{inner{}}}}
 */
#include <dlfcn.h>

#include "program.h"

FN int use(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);

	if (!handle) {
		puts(dlerror());
		return 9;
	}

	int (*plugin)(int) = (int (*)(int))dlsym(handle, "plugin");
	int r = plugin(4);

	dlclose(handle);
	KEEP();
	return r;
}

int main(int argc, char *argv[])
{
	char path[4096];

	snprintf(path, sizeof(path), "%.*s/libplugin.so", (int)(strrchr(argv[0], '/') - argv[0]),
		 argv[0]);

	int r = use(path);

	printf("%d\n", r + use(path));
	return 0;
}
