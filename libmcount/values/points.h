/*
 * Shared by records of events: the state that they belong to, and the records that must be written
 * before them.
 */
#ifndef UTRAIL_LIBMCOUNT_POINTS_H
#define UTRAIL_LIBMCOUNT_POINTS_H

#include "libmcount/hot/probe.h"

/*
 * HOT. An event comes, with stack pointer @sp. Returns the state that it belongs to, with the guard
 * set; the caller clears that by guard_leave(). NULL, with nothing to undo, when calls at this
 * point would not be recorded.
 */
struct thread *point_begin(uint64_t sp);

/*
 * HOT. Write open calls that were held back, before the event is written, since times never go
 * back.
 */
void point_write_entries(struct thread *t);

#endif
