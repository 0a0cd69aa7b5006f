/*
 * Counters of the kernel and the processor (perf_event_open(2)). Each thread reads its own
 * counters. libmcount/hot/probe.h explains COLD and SLOW.
 */
#ifndef UTRAIL_LIBMCOUNT_COUNTERS_H
#define UTRAIL_LIBMCOUNT_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/format/probe/plan.h"

/*
 * Sets of counters. The counters of a set are opened together. Each set except COUNTERS_BY_NAME has
 * two counters.
 */
enum counter_set {
	COUNTERS_PMU_CYCLE,  /* cycles and instructions */
	COUNTERS_PMU_CACHE,  /* references and misses */
	COUNTERS_PMU_BRANCH, /* branches and misses */
	COUNTERS_BY_NAME,    /* the plan's counters, which users have chosen by name */
	COUNTER_SETS
};

/*
 * One reading of a set.
 *
 * @got: bits of the counters that could be read
 * @idle_ns: for each counter, the time in which the processor had no room for it. Two values with
 *           different idle times must not be subtracted
 */
struct counter_values {
	uint32_t got;
	uint32_t pad;
	uint64_t values[PLAN_COUNTERS_MAX];
	uint64_t idle_ns[PLAN_COUNTERS_MAX];
};

/* COLD, before any counter is read: set the counters of COUNTERS_BY_NAME for a new recording. */
void counters_choose(const struct plan_counter *counters, uint32_t nr);

/*
 * SLOW. Reads a set of counters of this thread. The first reading opens the counters, and returns
 * the bits of those that cannot be opened. Later readings return 0. When memory is short, each
 * reading returns the bits of all counters.
 */
uint32_t counters_read(enum counter_set set, struct counter_values *out);

/* COLD, when this thread ends: close its counters. */
void counters_end(void);

/*
 * COLD, at the recording's end. Closes the counters of all threads. Meanwhile no thread may read
 * counters.
 */
void counters_drop(void);

/* COLD, in a forked child: forget the counters of the parent's threads. */
void counters_after_fork(void);

#endif
