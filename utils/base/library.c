/* Libraries that are loaded on demand (see library.h). */
#include "utils/base/library.h"

#include <dlfcn.h>
#include <string.h>

const char *library_load(const char *soname, const struct library_function *functions, size_t nr,
			 void *table)
{
	void *handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (!handle)
		return dlerror();
	for (size_t i = 0; i < nr; i++) {
		void *function = dlsym(handle, functions[i].name);

		if (!function)
			return dlerror();
		memcpy((char *)table + functions[i].offset, &function, sizeof(function));
	}
	return NULL;
}
