/* Times in nanoseconds. The time of a clock that cannot be read is 0. */
#ifndef UTRAIL_BASE_CLOCK_H
#define UTRAIL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "utils/base/units.h"

static inline uint64_t timespec_ns(const struct timespec *ts)
{
	return ts->tv_sec * NSEC_PER_SEC + ts->tv_nsec;
}

static inline uint64_t clock_now_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return timespec_ns(&now);
}

#endif
