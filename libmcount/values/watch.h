/* -W: values that are checked with each record. A changed value is written as an event. */
#ifndef UTRAIL_LIBMCOUNT_WATCH_H
#define UTRAIL_LIBMCOUNT_WATCH_H

#include "libmcount/hot/planned.h"

/*
 * HOT. Writes an event for each watched value that has changed since the last call for @t. The
 * first call writes all values.
 */
void watch_look(struct thread *t, uint64_t time_ns);

#endif
