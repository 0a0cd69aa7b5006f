/* Records an event of the program (doc/internals/points.md). */
#include "libmcount/values/points.h"

#include "libmcount/hot/frames.h"
#include "libmcount/hot/guard.h"
#include "libmcount/hot/planned_fast.h"
#include "libmcount/hot/stacks.h"

/*
 * True when recording is on and no call of a function with PLAN_NOTRACE is open. With -F, there is
 * a third condition: a call of a function that -F names is open. -L, -C and the limits of depth,
 * time and size are not checked. If the plan has rules and t->planned is NULL, the result is false.
 */
static inline bool is_wanted(struct thread *t)
{
	const struct planned *p = t->planned;

	if (likely(probe.plain))
		return true;
	if (!p)
		return false;
	if (plan_update_has_news())
		plan_update_obey(t);
	if (unlikely(!planned_is_current(p)))
		planned_take_up(t);
	return probe.tracing && probe.is_on && !p->now.out && (!p->has_filter || p->now.in);
}

/* Ends the frames below the stack pointer @sp. The program has left them without returning. */
static void leave_jumped_out(struct thread *t, uint64_t sp)
{
	bool estimates = probe.plan.flags & PLAN_ESTIMATE;

	if (estimates)
		planned_begin_estimate(t);
	frames_leave_inside(t, sp);
	if (estimates)
		planned_end_estimate(t);
}

void point_write_entries(struct thread *t)
{
	if (t->planned)
		planned_write_entries(t, t->top);
	else if (unlikely(t->top > t->written))
		frames_write_entries(t, t->top);
}

struct thread *point_begin(uint64_t sp)
{
	struct thread *t = likely(probe.tracing) ? guard_enter() : NULL;

	if (unlikely(!t))
		return NULL;
	if (unlikely(stack_may_differ(t, sp)))
		t = stacks_enter(t, sp);
	if (unlikely(t->top->slot < sp))
		leave_jumped_out(t, sp);
	if (likely(is_wanted(t)))
		return t;
	guard_leave(t);
	return NULL;
}

void probe_point(uint32_t event, uint64_t sp)
{
	struct thread *t = point_begin(sp);
	char *at;

	if (unlikely(!t))
		return;
	point_write_entries(t);
	at = hot_reserve(t, sizeof(struct record));
	if (likely(at))
		hot_commit(t, put_record(at, hot_clock(t), record_data(RECORD_EVENT, 0, event)));
	else
		note_lost(t, 1);
	guard_leave(t);
}
