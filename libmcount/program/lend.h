/*
 * Children that run in the memory of their parent, thread-local storage and all, which waits
 * meanwhile: vfork(2).
 */
#ifndef UTRAIL_LIBMCOUNT_LEND_H
#define UTRAIL_LIBMCOUNT_LEND_H

#include "libmcount/hot/probe.h"

/*
 * Such a child finds its parent's `self`. So the parent makes a state for it, with a ring that the
 * child puts its own task id on; `self` is that one until the child has become another program or
 * has ended. The calls that are open are those of the parent: the child's have their depth inside
 * of them, as in a child of fork(2), and none of them ends in it but vfork(2) itself.
 *
 * Only the parent takes memory, and rings: a child that is killed leaves nothing half done.
 */

/*
 * COLD, before the child is made. @slot: the return slot of the function that returns in both; 0:
 * there is none. Returns the thread that the child begins with, and that its parent ends; NULL when
 * nothing is to be recorded of it, or cannot be.
 */
struct thread *lend_prepare(uint64_t slot);

/* COLD, in the child. NULL is fine, here and below. */
void lend_begin(struct thread *lent);

/* COLD, in the parent, when the child does not run in its memory any more, or there is none. */
void lend_end(struct thread *lent);

#endif
