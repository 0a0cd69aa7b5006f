/* Functions that the probe puts itself in front of: finding the one behind. */
#ifndef UTRAIL_LIBMCOUNT_INTERPOSE_H
#define UTRAIL_LIBMCOUNT_INTERPOSE_H

#include <dlfcn.h>

/* The next definition of @name after ours, looked up once and kept in @cache; NULL when there is none. */
static inline void *interposed(void **cache, const char *name)
{
	void *fn = __atomic_load_n(cache, __ATOMIC_RELAXED);

	if (!fn) {
		fn = dlsym(RTLD_NEXT, name);
		__atomic_store_n(cache, fn, __ATOMIC_RELAXED);
	}
	return fn;
}

#endif
