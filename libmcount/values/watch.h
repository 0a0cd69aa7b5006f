/* -W: what is looked at with each record, and told when it has changed. */
#ifndef UTRAIL_LIBMCOUNT_WATCH_H
#define UTRAIL_LIBMCOUNT_WATCH_H

#include "libmcount/hot/planned.h"

/*
 * HOT: write an event for each value that the plan of @t wants to be watched, if it is another one
 * than was seen last. The first time all are written.
 */
void watch_look(struct thread *t, uint64_t time_ns);

#endif
