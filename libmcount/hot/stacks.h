/*
 * Finds the stack that a call runs on, in programs that switch stacks themselves: coroutines,
 * fibers, swapcontext(3).
 */
#ifndef UTRAIL_LIBMCOUNT_STACKS_H
#define UTRAIL_LIBMCOUNT_STACKS_H

#include "libmcount/hot/probe.h"

/*
 * A stack that the program has made has a thread state of its own, with a ring and a task id of its
 * own (RING_FIRST_STACK_TID and above). Its calls go on when it is taken up again, be it by another
 * thread. Switches are not seen when they happen, but by the next call or return, whose slot lies
 * elsewhere.
 *
 * The program tells nobody where its stacks are. Known is where calls were seen: @low and @high of
 * the state. Within that range a slot above the innermost frame means that frames were jumped out
 * of. Outside of it the kernel is asked whether all memory between is there, as it is within one
 * stack of the system's. None of this is done before probe.follows_stacks: the program imports a
 * function that switches, or was seen to have switched.
 */

/* HOT: true when that call may be on another stack than the calls before it. */
static inline bool stack_may_differ(const struct thread *t, uint64_t slot)
{
	return t->top->slot <= slot || slot < t->low;
}

/*
 * From hot functions, rarely. The state that a call with that slot belongs to, with the guard moved
 * there.
 */
struct thread *stacks_enter(struct thread *t, uint64_t slot);

/* Same for a return through the trampoline; @t when no state has such a frame. */
struct thread *stacks_return(struct thread *t, uint64_t slot);

/* Same for the exit hook, called with that stack pointer: nobody's is @t's. */
struct thread *stacks_find(struct thread *t, uint64_t sp);

/*
 * COLD. This thread goes on at @sp, on a stack of that many @bytes from @low on, as the program
 * says. If that lies in a call of the stack that runs now, in a local variable, no later call tells
 * the two apart: so the stack is taken up now. Others are when they call.
 */
void stacks_take_up(uint64_t sp, uint64_t low, uint64_t bytes);

/*
 * COLD. This thread ends or is to be left alone: the stack that it runs is nobody's now. Its own
 * state is self.
 */
void stacks_go_home(void);

/*
 * COLD, in a forked child. Frames of other stacks return by themselves; the one that runs is the
 * thread's own.
 */
void stacks_after_fork(void);

#endif
