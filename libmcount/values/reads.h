/* Values that triggers read at entry and exit of functions: memory, page faults, counters. */
#ifndef UTRAIL_LIBMCOUNT_READS_H
#define UTRAIL_LIBMCOUNT_READS_H

#include "libmcount/values/counters.h"
#include "libmcount/hot/probe.h"

/*
 * One reading, in the order of enum plan_read.
 *
 * @got: enum plan_read bits of the values that could be read; @named has no bits here
 * @statm: size, resident, shared, in KB
 * @page_faults: major, minor
 * @pmu: cycles and instructions, cache references and misses, branches and misses
 * @named: the counters by name
 */
struct reading {
	uint32_t got;
	uint32_t pad;
	uint64_t statm[3];
	uint64_t page_faults[2];
	uint64_t pmu[3][2];
	struct counter_values named;
};

/* SLOW. Read the values with the enum plan_read bits @what for this thread. */
void reads_take(uint32_t what, struct reading *out);

/*
 * HOT, rarely: write events for the values in @now. If @before is not NULL, write the changes since
 * @before instead.
 */
void reads_emit(struct thread *t, uint64_t time_ns, const struct reading *now,
		const struct reading *before);

#endif
