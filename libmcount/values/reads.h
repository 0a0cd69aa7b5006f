/* Values of the process that triggers read at entry and exit: memory, page faults, counters. */
#ifndef UTRAIL_LIBMCOUNT_READS_H
#define UTRAIL_LIBMCOUNT_READS_H

#include "libmcount/values/counters.h"
#include "libmcount/hot/probe.h"

/*
 * One reading. In the order of enum plan_read: statm (size, resident, shared, in KB), page faults
 * (major, minor), cycles and instructions, cache references and misses, branches and misses; then
 * the counters by name.
 *
 * @got: enum plan_read bits of the values that could be read, except counters by name
 */
struct reading {
	uint32_t got;
	uint32_t pad;
	uint64_t statm[3];
	uint64_t page_faults[2];
	uint64_t pmu[3][2];
	struct counter_values named;
};

/* SLOW. Read values for this thread; @what has their enum plan_read bits. errno is kept. */
void reads_take(uint32_t what, struct reading *out);

/*
 * HOT, rarely: write events for the values in @now, or, with @before, for their changes since
 * @before.
 */
void reads_emit(struct thread *t, uint64_t time_ns, const struct reading *now,
		const struct reading *before);

#endif
