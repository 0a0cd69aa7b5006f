/*
 * Values that triggers read at entry and exit of functions: memory, page faults, counters.
 * libmcount/hot/probe.h explains SLOW and WARM.
 */
#ifndef UTRAIL_LIBMCOUNT_READS_H
#define UTRAIL_LIBMCOUNT_READS_H

#include "libmcount/values/counters.h"
#include "libmcount/hot/probe.h"

/*
 * One reading. The members have the order of the bits in enum plan_read.
 *
 * @got: the enum plan_read bits of the values that could be read. The bits for @named are in
 *       @named.got instead
 * @statm: size, resident, shared, in KB
 * @page_faults: major, minor
 * @pmu: cycles and instructions, cache references and misses, branches and misses
 * @named: the counters that users have chosen by name (COUNTERS_BY_NAME)
 */
struct reading {
	uint32_t got;
	uint32_t pad;
	uint64_t statm[3];
	uint64_t page_faults[2];
	uint64_t pmu[3][2];
	struct counter_values named;
};

/* SLOW, in the measured thread. Reads the values whose enum plan_read bits are set in @what. */
void reads_take(uint32_t what, struct reading *out);

/*
 * WARM. If @before is NULL, writes events with the values in @now. Otherwise writes events with the
 * changes from @before to @now.
 */
void reads_emit(struct thread *t, uint64_t time_ns, const struct reading *now,
		const struct reading *before);

#endif
