/* -W: values that are checked with each record, and told when they have changed. */
#ifndef UTRAIL_LIBMCOUNT_WATCH_H
#define UTRAIL_LIBMCOUNT_WATCH_H

#include "libmcount/hot/planned.h"

/*
 * HOT: write an event for each watched value of the plan of @t that has changed since the last
 * call. The first call writes all values.
 */
void watch_look(struct thread *t, uint64_t time_ns);

#endif
