/* -W: values that are checked with each record, and told when they have changed. */
#ifndef UTRAIL_LIBMCOUNT_WATCH_H
#define UTRAIL_LIBMCOUNT_WATCH_H

#include "libmcount/hot/planned.h"

/*
 * HOT: write an event for each watched value of the plan of @t that differs from the last one seen.
 * The first time all are written.
 */
void watch_look(struct thread *t, uint64_t time_ns);

#endif
