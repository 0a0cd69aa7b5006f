/*
 * The aside: it takes the calls of a signal handler that interrupted a hook of the same thread (see
 * aside.c).
 */
#ifndef UTRAIL_LIBMCOUNT_ASIDE_H
#define UTRAIL_LIBMCOUNT_ASIDE_H

#include "libmcount/hot/probe.h"

/*
 * COLD. The handler that used the aside of @t jumps out for good: the aside's open frames are over,
 * and its records go to the ring.
 */
void aside_give_up(struct thread *t);

/*
 * SLOW, while @t waits inside of a hook: true when the aside will soon have no room for calls of
 * handlers.
 */
bool aside_needs_quiet(const struct thread *t);

#endif
