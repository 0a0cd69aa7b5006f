/*
 * Library functions that act for the module of their caller: dlopen(3), dlsym(3). They find this
 * module by their return address.
 */
#ifndef UTRAIL_LIBMCOUNT_CALLER_H
#define UTRAIL_LIBMCOUNT_CALLER_H

#include "libmcount/hot/probe.h"

/*
 * Calls @fn(@a, @b) so that @fn acts as if the module that contains @caller had called @fn.
 * arch_call_returning_through() explains @lazy.
 */
void *caller_pretend(void *fn, const void *a, uint64_t b, const void *caller, uint64_t lazy);

/*
 * Called instead of the function of @site when the return address of the call was replaced by the
 * address of arch_return_trampoline. Calls the function of @site, and makes the true caller visible
 * to that function.
 */
void *caller_call(const void *a, uint64_t b, struct call_site *site, uint64_t lazy);

#endif
