/* Children of vfork(2): they run in the memory and thread-local storage of a waiting parent. */
#ifndef UTRAIL_LIBMCOUNT_LEND_H
#define UTRAIL_LIBMCOUNT_LEND_H

#include "libmcount/hot/probe.h"

/*
 * Such a child has its parent's `self`. So the parent makes a state for the child, with a ring on
 * which the child puts its own task id. `self` points to that state until the child executes
 * another program or ends. The parent's open calls are open in the child, too, and the child's
 * calls are deeper, as after fork(2). vfork(2) itself is the only open call that ends in the child.
 *
 * Only the parent takes memory and rings: a killed child leaves nothing half done.
 */

/*
 * COLD, before the child is made. @slot is the return slot of the function that returns in both
 * child and parent, or 0 if no function does. Returns the thread state that the child begins with
 * and the parent ends; NULL when the child is not to be recorded, or cannot be.
 */
struct thread *lend_prepare(uint64_t slot);

/* COLD, in the child. Here and in lend_end(), @lent may be NULL. */
void lend_begin(struct thread *lent);

/* COLD, in the parent, when the child has left the parent's memory, or could not be made. */
void lend_end(struct thread *lent);

#endif
