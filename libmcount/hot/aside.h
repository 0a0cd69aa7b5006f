/*
 * The aside keeps the records of a signal handler that interrupted a hook of the same thread (see
 * aside.c).
 */
#ifndef UTRAIL_LIBMCOUNT_ASIDE_H
#define UTRAIL_LIBMCOUNT_ASIDE_H

#include "libmcount/hot/probe.h"

/*
 * COLD. A signal handler has interrupted a hook of @t, and now jumps out by longjmp(3). Ends the
 * open frames of the thread's aside, and moves the aside's records to the ring of @t.
 */
void aside_give_up(struct thread *t);

/*
 * SLOW, when a new thread takes the state @t. Empties the aside: the thread that had this state
 * before may have ended in the middle of a hook.
 */
void aside_forget(struct thread *t);

/*
 * COLD, in a forked child. At the fork, the aside of @t may hold records, and counters of calls
 * that were not recorded. The parent adds these records and counters to the recording. So this
 * function makes the child skip the records, and sets the child's counters to 0.
 */
void aside_after_fork(struct thread *t);

/*
 * SLOW. Called while @t waits inside of a hook. True when less than half of the aside is free for
 * the records of signal handlers.
 */
bool aside_needs_quiet(const struct thread *t);

#endif
