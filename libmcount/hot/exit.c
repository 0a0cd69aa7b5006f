/* Handles the returns of traced functions whose return addresses were replaced. */
#include "libmcount/hot/fast.h"
#include "libmcount/hot/frames.h"
#include "libmcount/hot/guard.h"
#include "libmcount/hot/stacks.h"

/* Handles the return of a frame that is not the innermost one. The guard is set. */
NOINLINE static uint64_t exit_elsewhere(struct thread *t, uint64_t slot,
					const struct arch_regs *regs)
{
	uint64_t ret;

	t = stacks_return(t, slot);
	ret = frames_leave_slot(t, slot, regs);
	guard_leave(t);
	return ret;
}

/* Handles all returns outside of the common case. Called with the guard set. */
NOINLINE static uint64_t exit_guarded(struct thread *t, uint64_t slot, const struct arch_regs *regs)
{
	uint64_t ret = t->top->ret;

	if (unlikely(t->top->slot != slot))
		return exit_elsewhere(t, slot, regs);
	frames_leave_top(t, regs);
	guard_leave(t);
	return ret;
}

NOINLINE static uint64_t exit_unguarded(uint64_t slot, const struct arch_regs *regs)
{
	struct thread *t = guard_return();

	/*
	 * There are two reasons for a NULL @t: the thread is not traced any more, or a hook of the
	 * thread is interrupted and the aside (aside.h) is missing or in use. In these cases
	 * nothing is recorded, and frames_find_return() finds the return address.
	 */
	return t ? exit_guarded(t, slot, regs) : frames_find_return(slot);
}

/* Leaves the hook after a signal handler has stored records in the aside (aside.h). */
NOINLINE static uint64_t leave_exited(struct thread *t, uint64_t ret)
{
	guard_leave(t);
	return ret;
}

/* HOT (libmcount/hot/probe.h). */
uint64_t probe_exit(uint64_t slot, const struct arch_regs *regs)
{
	struct thread *t = fast_guard();

	if (unlikely(!t))
		return exit_unguarded(slot, regs);

	uint64_t ret = t->top->ret;

	if (unlikely(t->top->slot != slot) || unlikely(!fast_pop_alike(t) && !fast_pop(t)))
		return exit_guarded(t, slot, regs);
	guard_barrier();
	if (unlikely(t->has_aside_records))
		return leave_exited(t, ret);
	t->busy = 0;
	return ret;
}

/* HOT (libmcount/hot/probe.h). */
uint64_t probe_exit_guarded(uint64_t slot, const struct arch_regs *regs)
{
	return exit_guarded(self, slot, regs);
}

/* WARM (libmcount/hot/probe.h). */
void probe_leave(void)
{
	guard_leave(self);
}
