/* The present time; 0: the clock cannot be read, as of a process that has gone. */
#ifndef UTRAIL_BASE_CLOCK_H
#define UTRAIL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "utils/base/units.h"

static inline uint64_t clock_now_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	clock_gettime(clock, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

#endif
