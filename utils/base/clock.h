/* The nanoseconds of a time; the present time, or 0 when the clock cannot be read. */
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
