/* Stacks of programs that switch stacks themselves: coroutines, fibers, swapcontext(3). */
#ifndef UTRAIL_LIBMCOUNT_STACKS_H
#define UTRAIL_LIBMCOUNT_STACKS_H

#include "libmcount/hot/probe.h"

/*
 * If the program makes a stack, this stack gets a thread state, a ring and a task id of its own
 * (RING_FIRST_STACK_TID and above). Any thread may later switch to such a stack. The probe notices
 * the switch at the next call or return, because the slot (struct frame) of this call or return
 * lies on the new stack.
 *
 * The probe knows only a range of each stack: from @low to @high of the stack's state. If the slot
 * of a call lies in this range, but above the slot of the innermost frame, the program has jumped
 * out of frames.
 *
 * Each thread begins on its own stack. The range of this stack may be too small. If a slot lies
 * outside of the range, the probe asks the kernel whether all memory between the slot and the range
 * is readable. If all is readable, the slot lies on the thread's own stack.
 *
 * If the flag probe.follows_stacks is not set, all calls of a thread count as calls on one stack.
 * The probe sets this flag
 * - when the program imports a function that switches stacks (PLAN_STACKS),
 * - when the probe notices a switch, or stacks_take_up() switches to another state, or
 * - when the probe patches the C library. A child of posix_spawn(3) shares its parent's memory, and
 *   calls functions of the C library on another stack than its parent does.
 */

/* HOT: true when a call with @slot may be on another stack than the calls before it. */
static inline bool stack_may_differ(const struct thread *t, uint64_t slot)
{
	return t->top->slot <= slot || slot < t->low;
}

/*
 * Called by hot functions, but rarely. Returns the state that a call with @slot belongs to. If this
 * state is not @t, sets the guard of the state (thread.busy), and clears the guard of @t.
 */
struct thread *stacks_enter(struct thread *t, uint64_t slot);

/*
 * Called when the call with @slot returns through the trampoline. Returns the state that has the
 * frame of this call, or @t when no such state is found. Sets and clears guards as stacks_enter()
 * does.
 */
struct thread *stacks_return(struct thread *t, uint64_t slot);

/*
 * Returns the state that an exit hook with stack pointer @sp belongs to, or @t when that state is
 * unknown.
 */
struct thread *stacks_find(struct thread *t, uint64_t sp);

/*
 * COLD. Called when the program announces that this thread goes on at @sp, on a stack of @bytes
 * that begins at @low. The announced stack may lie within another stack, as a local variable of a
 * call. In this case slots do not tell whether a call is on the inner or on the outer stack. So
 * this function itself switches to the state of the announced stack, and a later call of this
 * function switches back. In other cases the probe switches at the next call on the announced
 * stack.
 */
void stacks_take_up(uint64_t sp, uint64_t low, uint64_t bytes);

/*
 * COLD. Called when the probe stops tracing this thread, for example because the thread ends. If
 * this thread is on a stack that the program has made, marks that stack as one on which no thread
 * runs (@is_parked), and stores the state of the thread's own stack in the variable self.
 */
void stacks_go_home(void);

/*
 * COLD, in a forked child. The present stack becomes the own stack of this thread. For each frame
 * on another stack, the return address is written back to the slot of the frame.
 */
void stacks_after_fork(void);

#endif
