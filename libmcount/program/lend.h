/* Children of vfork(2), which run in the memory and thread-local storage of a waiting parent. */
#ifndef UTRAIL_LIBMCOUNT_LEND_H
#define UTRAIL_LIBMCOUNT_LEND_H

#include "libmcount/hot/probe.h"

/*
 * A child of vfork(2) runs in the memory of its parent. The child and the waiting thread of the
 * parent use the same variable `self`. This variable points to the state of a thread (probe.h). So
 * that the child has its own state, the parent makes a second state with a ring. `self` points to
 * the child's state until the child executes a program or ends. The child inherits the parent's
 * open calls. The child returns from vfork(2), but from no other inherited call.
 *
 * Only the parent takes memory and rings, so a child that is killed leaves nothing half done.
 */

/*
 * COLD, before the child is made. Returns the state with which the child begins, or NULL when the
 * child is not recorded. The parent passes the state to lend_end().
 *
 * @slot: the return slot of the function that makes the child, such as vfork(2). 0: that function
 *        does not return in the child
 */
struct thread *lend_prepare(uint64_t slot);

/* COLD, in the child. Makes @lent the child's state. Here and in lend_end(), @lent may be NULL. */
void lend_begin(struct thread *lent);

/*
 * COLD, in the parent. Takes the child's state back. Called after the child has left the parent's
 * memory, and also when no child could be made.
 */
void lend_end(struct thread *lent);

#endif
