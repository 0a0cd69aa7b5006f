/*
 * Finds the definition of a name in a process whose other threads are stopped: dlsym(3) would wait
 * for their locks.
 */
#ifndef UTRAIL_LIBMCOUNT_DEFINITION_H
#define UTRAIL_LIBMCOUNT_DEFINITION_H

#include <stdint.h>

/*
 * COLD. The address of the first function called @name in the order of loading, without the probe's
 * own. The dynamic linker most likely binds a call to that function. 0 when no module with a
 * DT_GNU_HASH table has one. Takes the lock of dl_iterate_phdr(3) and no other.
 */
uint64_t definition_find(const char *name);

/* COLD. Does the work of definition_find() for a variable's address. */
uint64_t definition_find_data(const char *name);

#endif
