/*
 * The parts that records of events have in common: the state they belong to, and the records that
 * must be written ahead of them.
 */
#ifndef UTRAIL_LIBMCOUNT_POINTS_H
#define UTRAIL_LIBMCOUNT_POINTS_H

#include "libmcount/hot/probe.h"

/*
 * HOT. The program is at a place with stack pointer @sp where an event comes: the state that it
 * belongs to, with the guard set. NULL, and nothing to be undone, when calls here and now would not
 * be recorded. Else guard_leave() ends it.
 */
struct thread *point_begin(uint64_t sp);

/* HOT. Open calls that were held back come first: times never go back. */
void point_write_entries(struct thread *t);

#endif
