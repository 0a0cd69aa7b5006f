/*
 * The aside: where calls of a signal handler go that interrupted a hook of the same thread (see
 * aside.c).
 */
#ifndef UTRAIL_LIBMCOUNT_ASIDE_H
#define UTRAIL_LIBMCOUNT_ASIDE_H

#include "libmcount/probe.h"

/*
 * HOT, rarely. A hook of @t is interrupted: its aside with the guard set, or NULL when the call is
 * to be left alone.
 */
struct thread *aside_enter(struct thread *t);

/*
 * HOT, rarely. The interrupted hook of @t is done, its guard still set: move the aside's records to
 * the ring.
 */
void aside_flush(struct thread *t);

/*
 * COLD. The handler jumps out for good: the aside's open frames are over, and its records go to the
 * ring.
 */
void aside_give_up(struct thread *t);

/*
 * Keep signal handlers from running in this thread until aside_quiet_end(), which gets what @mask
 * was set to. False when that is not possible. Both may change errno.
 */
bool aside_quiet_begin(uint64_t *mask);
void aside_quiet_end(uint64_t mask);

/*
 * SLOW. @t waits inside of a hook: whether what handlers call meanwhile would soon find no place.
 */
bool aside_needs_quiet(const struct thread *t);

#endif
