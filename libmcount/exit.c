/* Return of a traced function whose return slot was replaced. */
#include "libmcount/frames.h"
#include "libmcount/guard.h"

/* HOT (libmcount/probe.h). */
uint64_t probe_exit(uint64_t slot)
{
	struct thread *t = guard_return();
	uint64_t ret;

	/* The thread is not traced any more, or a frame of it returns inside of one of its hooks: only where to counts. */
	if (unlikely(!t))
		return frames_find_return(slot);
	if (likely(t->top->slot == slot)) {
		ret = t->top->ret;
		frames_leave_top(t);
	} else {
		ret = frames_leave_slot(t, slot);
	}
	guard_leave(t);
	return ret;
}
