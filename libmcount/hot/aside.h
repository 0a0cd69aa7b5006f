/*
 * The aside keeps the records of a signal handler that interrupted a hook of the same thread (see
 * aside.c).
 */
#ifndef UTRAIL_LIBMCOUNT_ASIDE_H
#define UTRAIL_LIBMCOUNT_ASIDE_H

#include "libmcount/hot/probe.h"

/*
 * COLD. Called when the handler that used the aside of @t jumps out and will not continue. Ends the
 * aside's open frames, and moves the aside's records to the ring of @t.
 */
void aside_give_up(struct thread *t);

/*
 * SLOW, when a new thread takes the state @t. Empties the aside: the thread that had this state
 * before may have ended in the middle of a hook.
 */
void aside_forget(struct thread *t);

/*
 * COLD, in a forked child. The parent writes the records and counts that the aside of @t had at the
 * fork. The child writes only later records and counts.
 */
void aside_after_fork(struct thread *t);

/*
 * SLOW. Called while @t waits inside of a hook. True when less than half of the aside is free for
 * the records of signal handlers.
 */
bool aside_needs_quiet(const struct thread *t);

#endif
