/*
 * Library functions that act for the module of their caller: dlopen(3), dlsym(3). They find this
 * module by their return address.
 */
#ifndef UTRAIL_LIBMCOUNT_CALLER_H
#define UTRAIL_LIBMCOUNT_CALLER_H

#include "libmcount/hot/probe.h"

/*
 * Calls @fn(@a, @b) so that @fn takes the module of @caller for the module of its own caller.
 * arch_call_returning_through() explains @lazy.
 */
void *caller_pretend(void *fn, const void *a, uint64_t b, const void *caller, uint64_t lazy);

/*
 * Called instead of the function of @site when the return slot leads to the trampoline. Calls that
 * function so that it sees its true caller.
 */
void *caller_call(const void *a, uint64_t b, struct call_site *site, uint64_t lazy);

#endif
