/*
 * Counters of the kernel and the processor (perf_event_open(2)), for each thread that reads them.
 */
#ifndef UTRAIL_LIBMCOUNT_COUNTERS_H
#define UTRAIL_LIBMCOUNT_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "utils/format/probe/plan.h"

/*
 * Counters that are opened together: first the sets that have always existed, each a group of two.
 */
enum counter_set {
	COUNTERS_PMU_CYCLE,  /* cycles and instructions */
	COUNTERS_PMU_CACHE,  /* references and misses */
	COUNTERS_PMU_BRANCH, /* branches and misses */
	COUNTERS_BY_NAME,    /* those of the plan */
	COUNTER_SETS
};

/*
 * One reading of a set.
 *
 * @got: bits of those that could be read
 * @idle_ns: by counter: the time so far in which the processor had no room for it. A difference is
 * valid only between readings with the same @idle_ns
 */
struct counter_values {
	uint32_t got;
	uint32_t pad;
	uint64_t values[PLAN_COUNTERS_MAX];
	uint64_t idle_ns[PLAN_COUNTERS_MAX];
};

/* COLD, before any is read: COUNTERS_BY_NAME of the recording that begins. */
void counters_choose(const struct plan_counter *counters, uint32_t nr);

/*
 * SLOW. Read a set of this thread, which is opened with the first reading. Returns bits of those
 * that cannot be opened.
 */
uint32_t counters_read(enum counter_set set, struct counter_values *out);

/* COLD: this thread ends; its descriptors are closed. */
void counters_end(void);

/* COLD: the recording ends, and no thread reads any more: close the counters of all threads. */
void counters_drop(void);

/* COLD, in a forked child: counters of the parent's threads are not ours. */
void counters_after_fork(void);

#endif
