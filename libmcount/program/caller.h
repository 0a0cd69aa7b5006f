/*
 * Library functions that act for the module that their return address lies in: dlopen(3), dlsym(3).
 */
#ifndef UTRAIL_LIBMCOUNT_CALLER_H
#define UTRAIL_LIBMCOUNT_CALLER_H

#include "libmcount/hot/probe.h"

/*
 * Called instead of the function of @site, when its return slot leads to the trampoline: calls that
 * function as if it did not.
 */
void *caller_pretend(void *fn, const void *a, uint64_t b, const void *caller, uint64_t lazy);

/*
 * In the place of the function of @site, when its return slot leads to the trampoline: call it as
 * if that were not so.
 */
void *caller_call(const void *a, uint64_t b, struct call_site *site, uint64_t lazy);

#endif
