/*
 * Library calls that lead to patched functions. Such a call meets two hooks: the hook of the
 * library call, and the hook of the patched function. Only the second hook records the call.
 */
#ifndef UTRAIL_LIBMCOUNT_CALLS_PATCHED_H
#define UTRAIL_LIBMCOUNT_CALLS_PATCHED_H

#include "libmcount/hot/probe.h"

/* COLD, after patches_adopt(). Finds the sites in @sites that call patched functions. */
void calls_find_patched(struct call_site *sites, uint32_t nr);

/*
 * HOT, for a site with a flag CALL_OF_...: true when the function at @target has a hook that
 * records this call.
 */
bool calls_is_left_alone(struct call_site *site, uint64_t target);

#endif
