/* Points: an event of the program is recorded (see doc/internals/points.md). */
#include "libmcount/frames.h"
#include "libmcount/guard.h"
#include "libmcount/planned_fast.h"
#include "libmcount/stacks.h"

/* Whether calls here and now would be recorded, were they long enough. */
static inline bool is_wanted(struct thread *t)
{
	const struct planned *p = t->planned;

	if (likely(probe.plain))
		return true;
	if (!p)
		return false;
	if (steer_has_news())
		steer_obey(t);
	if (unlikely(!planned_is_current(p)))
		planned_take_up(t);
	return probe.tracing && probe.is_on && !p->now.out && (!p->has_filter || p->now.in);
}

/* Frames inside of the stack pointer were left without returning. */
static void leave_jumped_out(struct thread *t, uint64_t sp)
{
	bool estimates = probe.plan.flags & PLAN_ESTIMATE;

	if (estimates)
		planned_begin_estimate(t);
	frames_leave_inside(t, sp);
	if (estimates)
		planned_end_estimate(t);
}

static void record_event(struct thread *t, uint32_t id)
{
	char *at;

	/* What is open and was held back comes first: times never go back. */
	if (t->planned)
		planned_write_entries(t, t->top);
	else if (unlikely(t->top > t->written))
		frames_write_entries(t, t->top);
	at = hot_reserve(t, sizeof(struct record));
	if (likely(at))
		hot_commit(t, put_record(at, hot_clock(t), record_data(RECORD_EVENT, 0, id)));
	else
		note_lost(t, 1);
}

void probe_point(uint32_t event, uint64_t sp)
{
	struct thread *t = likely(probe.tracing) ? guard_enter() : NULL;

	if (unlikely(!t))
		return;
	if (unlikely(stack_may_differ(t, sp)))
		t = stacks_enter(t, sp);
	if (unlikely(t->top->slot < sp))
		leave_jumped_out(t, sp);
	if (is_wanted(t))
		record_event(t, event);
	guard_leave(t);
}
