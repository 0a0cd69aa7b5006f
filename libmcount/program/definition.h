/*
 * Finds the definition of a name. dlsym(3) would take a lock of the dynamic linker, and might block
 * forever: the thread that holds the lock may be stopped, or may wait for a lock of the probe. The
 * functions here do not take this lock.
 */
#ifndef UTRAIL_LIBMCOUNT_DEFINITION_H
#define UTRAIL_LIBMCOUNT_DEFINITION_H

#include <stdint.h>

/*
 * COLD. Returns the address of the function to which a call of @name most likely leads: the first
 * function of that name in the order of loading, without the probe's own functions. Returns 0 when
 * no module with a DT_GNU_HASH table defines @name. Takes only the lock of dl_iterate_phdr(3).
 */
uint64_t definition_find(const char *name);

/*
 * COLD. Like definition_find(), but does not skip the probe's own functions. Use this function when
 * the probe was loaded at the start of the process. If such a probe defines a function @name, calls
 * of @name lead to the probe's function.
 */
uint64_t definition_find_or_own(const char *name);

/* COLD. Like definition_find(), for a variable. */
uint64_t definition_find_data(const char *name);

#endif
