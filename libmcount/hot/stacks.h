/* Stacks of programs that switch stacks themselves: coroutines, fibers, swapcontext(3). */
#ifndef UTRAIL_LIBMCOUNT_STACKS_H
#define UTRAIL_LIBMCOUNT_STACKS_H

#include "libmcount/hot/probe.h"

/*
 * A stack that the program has made has a thread state, a ring and a task id of its own
 * (RING_FIRST_STACK_TID and above). Any thread may take the stack up again. The probe sees a switch
 * late: by the slot of the next call or return.
 *
 * Only the places of a stack's calls are known: @low and @high of its state. Inside of that range,
 * a call above the innermost frame means that frames were jumped out of. For a slot outside of the
 * range, the kernel is asked whether all memory between is mapped, as within one stack. All this
 * needs probe.follows_stacks: the program imports a function that switches, or has switched.
 */

/* HOT: true when a call with @slot may be on another stack than the calls before it. */
static inline bool stack_may_differ(const struct thread *t, uint64_t slot)
{
	return t->top->slot <= slot || slot < t->low;
}

/*
 * From hot functions, rarely. Returns the state that a call with @slot belongs to; the guard of @t
 * moves to that state.
 */
struct thread *stacks_enter(struct thread *t, uint64_t slot);

/*
 * Returns the state with the frame of @slot, which returns through the trampoline; @t when no state
 * has it. The guard moves as in stacks_enter().
 */
struct thread *stacks_return(struct thread *t, uint64_t slot);

/*
 * Returns the state that an exit hook with stack pointer @sp belongs to; @t when that is unknown.
 */
struct thread *stacks_find(struct thread *t, uint64_t sp);

/*
 * COLD. The program announces that this thread goes on at @sp, on a stack of @bytes from @low on.
 * If that stack is a local variable of a call, places cannot tell the calls on the two stacks
 * apart, so the stack is taken up now. Other stacks are taken up at their next call.
 */
void stacks_take_up(uint64_t sp, uint64_t low, uint64_t bytes);

/*
 * COLD. This thread ends or is to be left alone: no thread runs its stack from now on. self becomes
 * the thread's own state.
 */
void stacks_go_home(void);

/*
 * COLD, in a forked child. Frames of other stacks get their return addresses back; the present
 * stack becomes the thread's own.
 */
void stacks_after_fork(void);

#endif
