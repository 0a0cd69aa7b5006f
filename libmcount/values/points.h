/*
 * Functions for code that writes events. They find the thread state to which an event belongs, and
 * write the records that come before the event.
 */
#ifndef UTRAIL_LIBMCOUNT_POINTS_H
#define UTRAIL_LIBMCOUNT_POINTS_H

#include "libmcount/hot/probe.h"

/*
 * HOT, at an event with stack pointer @sp. Sets the guard, and returns the thread state for the
 * event. The caller must call guard_leave() later. Returns NULL, with no guard set, when
 * recording is off, when filters leave the event out, or when guard_enter() finds no thread state.
 */
struct thread *point_begin(uint64_t sp);

/*
 * HOT, before an event is written. Writes the held-back ENTRYs of open calls. These ENTRYs must
 * come first, since times in a ring never go back.
 */
void point_write_entries(struct thread *t);

#endif
