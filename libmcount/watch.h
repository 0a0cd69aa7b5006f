/* -W: what is looked at with each record, and told when it has changed. */
#ifndef UTRAIL_LIBMCOUNT_WATCH_H
#define UTRAIL_LIBMCOUNT_WATCH_H

#include "libmcount/probe.h"

/* What a thread saw last. Starts as zeros. */
struct watch_state {
	bool has_seen;
	uint32_t cpu;
	uint64_t values[PLAN_WATCHES_MAX];
};

/* HOT: whether there is anything to watch. */
static inline bool watch_is_wanted(void)
{
	return probe.nr_watches || (probe.plan.flags & PLAN_WATCH_CPU);
}

/* HOT: write an event for each value that is another one than @seen has. The first time all are written. */
void watch_look(struct thread *t, struct watch_state *seen, uint64_t time_ns);

#endif
