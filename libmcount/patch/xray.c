/*
 * The hooks for clang's XRay: the sleds in the program's code call these hooks. A function has
 * sleds at its entry and at its exits, so the probe need not replace return addresses.
 */
#include "libmcount/hot/fast.h"
#include "libmcount/hot/frames.h"
#include "libmcount/hot/guard.h"
#include "libmcount/hot/planned_fast.h"
#include "libmcount/hot/stacks.h"

/*
 * HOT: the two hooks. Both get the address of the call's return slot. In the call's frame,
 * frame.slot is this address with the lowest bit set (FRAME_EXPLICIT). So the exit hook can find
 * the frame.
 */

/* Handles all calls outside of the common case. Called with the guard set. */
NOINLINE static void enter_guarded(struct thread *t, uint64_t *slot, uint64_t addr,
				   const struct arch_regs *regs)
{
	uint64_t id = (uint64_t)slot | FRAME_EXPLICIT;

	if (unlikely(stack_may_differ(t, id)))
		t = stacks_enter(t, id);
	if (unlikely(t->top->slot <= id))
		frames_make_way(t, slot);
	/*
	 * If open frames have the slot of the new call, an exception or a longjmp(3) has already
	 * ended the calls of these frames.
	 */
	while (t->top->slot == id)
		frames_leave_top(t, NULL);
	if (unlikely(!probe.plain))
		planned_enter_announced(t, slot, addr, regs);
	else if (likely(t->top < t->limit))
		frame_push(t, id, *slot, addr);
	else
		note_too_deep(t);
	guard_leave(t);
}

NOINLINE static void enter_unguarded(uint64_t *slot, uint64_t addr, const struct arch_regs *regs)
{
	struct thread *t = guard_enter();

	if (t)
		enter_guarded(t, slot, addr, regs);
}

NOINLINE static void exit_guarded(struct thread *t, uint64_t slot, const struct arch_regs *regs)
{
	t = stacks_find(t, slot);
	frames_leave_announced(t, slot, regs);
	guard_leave(t);
}

NOINLINE static void exit_unguarded(uint64_t slot, const struct arch_regs *regs)
{
	struct thread *t = guard_return();

	/* A thread without a struct thread has recorded no entry, so it records no exit. */
	if (t)
		exit_guarded(t, slot, regs);
}

void probe_xray_entry(uint64_t *slot, uint64_t addr, const struct arch_regs *regs)
{
	uint64_t id = (uint64_t)slot | FRAME_EXPLICIT;
	struct thread *t = fast_guard();

	if (unlikely(!t))
		enter_unguarded(slot, addr, regs);
	else if (unlikely(stack_may_differ(t, id)) || unlikely(!fast_push(t, id, *slot, addr)))
		enter_guarded(t, slot, addr, regs);
	else
		guard_leave_fast(t);
}

void probe_xray_exit(uint64_t slot, const struct arch_regs *regs)
{
	struct thread *t = fast_guard();

	if (unlikely(!t))
		exit_unguarded(slot, regs);
	else if (unlikely(t->top->slot != (slot | FRAME_EXPLICIT)) || unlikely(!fast_pop(t)))
		exit_guarded(t, slot, regs);
	else
		guard_leave_fast(t);
}
