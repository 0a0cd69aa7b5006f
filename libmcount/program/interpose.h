/* Functions that the probe interposes: finding the next definition. */
#ifndef UTRAIL_LIBMCOUNT_INTERPOSE_H
#define UTRAIL_LIBMCOUNT_INTERPOSE_H

#include <dlfcn.h>
#include <errno.h>

#include "libmcount/hot/probe.h"

/*
 * The next definition of @name after ours, looked up once and kept in @cache; NULL when there is
 * none. When the probe was loaded after all other modules, the program does not use the probe's
 * names. Then this is the program's own definition.
 */
static inline void *interposed(void **cache, const char *name)
{
	void *fn = __atomic_load_n(cache, __ATOMIC_RELAXED);

	if (!fn) {
		fn = dlsym(probe.is_attached ? RTLD_DEFAULT : RTLD_NEXT, name);
		__atomic_store_n(cache, fn, __ATOMIC_RELAXED);
	}
	return fn;
}

/* Returns the result that most functions have when there is no next definition. */
static inline int interpose_fail(void)
{
	errno = ENOSYS;
	return -1;
}

/* The beginning and the end of our module; the linker makes these symbols. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static inline bool interpose_is_own(uint64_t address)
{
	return address >= (uint64_t)__ehdr_start && address < (uint64_t)_end;
}

/*
 * own_<name>: this module's exported function <name>, defined in the same source, whatever other
 * modules export that name. For libcall.c.
 */
#define OWN_NAME(name) \
	__asm__(".globl own_" #name "\n.hidden own_" #name "\n.set own_" #name ", " #name)

#endif
