/* Return of a traced function whose return slot was replaced. */
#include "libmcount/frames.h"

/*
 * HOT (libmcount/probe.h). The guard cannot be set here by an interrupted hook of this thread: a
 * handler that interrupts a hook gets no frames, so none of its functions returns this way.
 */
uint64_t probe_exit(uint64_t slot)
{
	struct thread *t = self;
	uint64_t ret;

	t->busy++;
	guard_barrier();
	if (likely(t->top->slot == slot)) {
		ret = t->top->ret;
		frames_leave_top(t);
	} else {
		ret = frames_leave_slot(t, slot);
	}
	guard_barrier();
	t->busy--;
	return ret;
}
