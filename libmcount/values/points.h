/* For writers of events: the state that an event belongs to, and the records before it. */
#ifndef UTRAIL_LIBMCOUNT_POINTS_H
#define UTRAIL_LIBMCOUNT_POINTS_H

#include "libmcount/hot/probe.h"

/*
 * HOT, at an event with stack pointer @sp. Returns the event's state with the guard set, for
 * guard_leave(). NULL, without a guard, when a call at this point would not be recorded.
 */
struct thread *point_begin(uint64_t sp);

/* HOT. Write held-back open calls before an event: times in a ring never go back. */
void point_write_entries(struct thread *t);

#endif
