/* -W: values that are checked with each record. A changed value is written as an event. */
#ifndef UTRAIL_LIBMCOUNT_WATCH_H
#define UTRAIL_LIBMCOUNT_WATCH_H

#include "libmcount/hot/planned.h"

/*
 * HOT. Writes an event for each watched value that has changed since the previous watch_look() for
 * @t. Writes all values in two cases: at the first watch_look() after planned_begin(), and at the
 * first watch_look() after a new plan that watches other variables.
 */
void watch_look(struct thread *t, uint64_t time_ns);

#endif
