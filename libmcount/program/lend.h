/* Children of vfork(2): they run in the memory and thread-local storage of a waiting parent. */
#ifndef UTRAIL_LIBMCOUNT_LEND_H
#define UTRAIL_LIBMCOUNT_LEND_H

#include "libmcount/hot/probe.h"

/*
 * A child of vfork(2) has its parent's `self`. So the parent makes a state with a ring for the
 * child, and `self` points to that state until the child executes a program or ends. The parent's
 * open calls are open in the child, too. Only vfork(2) itself ends in the child.
 *
 * Only the parent takes memory and rings: a killed child leaves nothing half done.
 */

/*
 * COLD, before the child is made. Returns the state that the child begins with and the parent ends.
 * NULL when the child is not recorded.
 *
 * @slot: the return slot of the function that returns in both processes; 0: no function does
 */
struct thread *lend_prepare(uint64_t slot);

/* COLD, in the child. Here and in lend_end(), @lent may be NULL. */
void lend_begin(struct thread *lent);

/* COLD, in the parent, when the child has left the parent's memory, or could not be made. */
void lend_end(struct thread *lent);

#endif
