/* Times in nanoseconds. The time of a clock that cannot be read is 0. */
#ifndef UTRAIL_BASE_CLOCK_H
#define UTRAIL_BASE_CLOCK_H

#include <stdbool.h>
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

/*
 * True for a time of CLOCK_REALTIME, which counts from 1970. The times of other clocks count from
 * boot (clock_gettime(2)).
 */
static inline bool clock_is_time_of_day(uint64_t ns)
{
	return ns > 25 * 365 * 86400 * NSEC_PER_SEC;
}

#endif
