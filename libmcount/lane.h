/* The lane: where calls of a signal handler go that interrupted a hook of the same thread (see lane.c). */
#ifndef UTRAIL_LIBMCOUNT_LANE_H
#define UTRAIL_LIBMCOUNT_LANE_H

#include "libmcount/probe.h"

/* HOT, rarely. A hook of @t is interrupted: its lane with the guard set, or NULL when the call is to be left alone. */
struct thread *lane_enter(struct thread *t);

/* HOT, rarely. The interrupted hook of @t is done, its guard still set: move the lane's records to the ring. */
void lane_flush(struct thread *t);

/* COLD. The handler jumps out for good: the lane's open frames are over, and its records go to the ring. */
void lane_give_up(struct thread *t);

/*
 * Keep signal handlers from running in this thread until lane_quiet_end(), which gets what @mask was set to. False when that is
 * not possible. Both may change errno.
 */
bool lane_quiet_begin(uint64_t *mask);
void lane_quiet_end(uint64_t mask);

/* SLOW. @t waits inside of a hook: whether what handlers call meanwhile would soon find no place. */
bool lane_needs_quiet(const struct thread *t);

#endif
