/* Finds the next definitions of functions that the probe interposes. */
#ifndef UTRAIL_LIBMCOUNT_INTERPOSE_H
#define UTRAIL_LIBMCOUNT_INTERPOSE_H

#include <dlfcn.h>
#include <errno.h>

#include "libmcount/hot/probe.h"

/*
 * Returns the definition of @name that follows the probe's own, or NULL. An attached probe is the
 * last module. For such a probe, the result is the first definition of @name.
 *
 * @cache: keeps the result for later calls
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

/*
 * Returns -1 with ENOSYS. Most interposed functions return this value when interposed() has found
 * no definition.
 */
static inline int interpose_fail(void)
{
	errno = ENOSYS;
	return -1;
}

/* The beginning and the end of the probe's module; the linker defines these symbols. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static inline bool interpose_is_own(uint64_t address)
{
	return address >= (uint64_t)__ehdr_start && address < (uint64_t)_end;
}

/*
 * Defines the symbol own_<name>, a hidden alias of the probe's function <name>. libcall.c uses
 * own_<name>, because other modules may export <name>. OWN_NAME() stands in the source file that
 * defines the function.
 */
#define OWN_NAME(name) \
	__asm__(".globl own_" #name "\n.hidden own_" #name "\n.set own_" #name ", " #name)

#endif
