/*
 * Children that share the memory of their parent, thread-local storage included, while the parent
 * waits: vfork(2).
 */
#ifndef UTRAIL_LIBMCOUNT_LEND_H
#define UTRAIL_LIBMCOUNT_LEND_H

#include "libmcount/hot/probe.h"

/*
 * Such a child has its parent's `self`. So the parent makes a state for it, with a ring on which
 * the child puts its own task id. `self` points to that state until the child executes another
 * program or ends. The open calls are the parent's. The child's calls are deeper than these, as in
 * a child of fork(2). Only vfork(2) itself ends in the child, and no other open call.
 *
 * Only the parent takes memory, and rings: a killed child leaves nothing half done.
 */

/*
 * COLD, before the child is made. @slot: the return slot of the function that returns in child and
 * parent; 0: there is none. Returns the thread state that the child begins with and the parent
 * ends; NULL when the child is not to be recorded, or cannot be.
 */
struct thread *lend_prepare(uint64_t slot);

/* COLD, in the child. @lent may be NULL, here and in lend_end(). */
void lend_begin(struct thread *lent);

/* COLD, in the parent, when the child has left the parent's memory, or there is no child. */
void lend_end(struct thread *lent);

#endif
