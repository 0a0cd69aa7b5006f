/*
 * Library calls of functions that are patched: the function's own hook records such a call, so that
 * it has one entry.
 */
#ifndef UTRAIL_LIBMCOUNT_CALLS_PATCHED_H
#define UTRAIL_LIBMCOUNT_CALLS_PATCHED_H

#include "libmcount/hot/probe.h"

/*
 * COLD, after patches_adopt(): find the functions of these @nr sites among those that are patched.
 */
void calls_find_patched(struct call_site *sites, uint32_t nr);

/*
 * HOT, of a site with one of the flags CALL_OF_...: whether the function that @target leads to
 * records this call.
 */
bool calls_is_left_alone(struct call_site *site, uint64_t target);

#endif
