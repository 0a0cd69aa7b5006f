/* Writes records of calls, and handles returns, while rules or filters apply (see planned.h). */
#include "libmcount/hot/planned_private.h"

#include "libmcount/values/capture.h"
#include "libmcount/values/emit.h"
#include "libmcount/hot/frames.h"
#include "libmcount/hot/hot.h"
#include "utils/format/event_ids.h"

bool planned_put_entry(struct thread *t, const struct frame *f, const struct planned_frame *pf)
{
	if (pf->flags & PLANNED_CALLSITE) {
		uint64_t site = planned_own_return(f) & ~FRAME_KEPT;

		emit_event(t, f->time_ns, EVENT_ID_CALLSITE, &site, sizeof(site));
	}

	bool has_watched = t->planned->watched.has_seen;

	if (t->planned->has_watch && has_watched)
		watch_look(t, f->time_ns - 1);
	if (unlikely(!emit_record(t, f->time_ns, f->data, t->planned->args + pf->args_at,
				  pf->args_len))) {
		note_lost(t, 2);
		return false;
	}
	if (pf->flags & PLANNED_READ)
		reads_emit(t, f->time_ns, &t->planned->readings[f - t->frames], NULL);
	/*
	 * A thread has no earlier watched values in two cases: the thread is new, or a new plan
	 * watches other variables. In both cases the first values are written after the ENTRY.
	 */
	if (t->planned->has_watch && !has_watched)
		watch_look(t, f->time_ns + 1);
	return true;
}

void planned_write_entries(struct thread *t, struct frame *f)
{
	struct frame *g = f;

	planned_settle(t);
	while (g > t->frames && !(planned_frame_of(t, g)->flags & PLANNED_WRITTEN))
		g--;
	while (++g <= f) {
		struct planned_frame *pf = planned_frame_of(t, g);

		if (!(pf->flags & PLANNED_RECORD) || (pf->flags & PLANNED_OFF))
			continue;
		/* If the ring has no room for a call's ENTRY, the call gets no EXIT, either. */
		if (!planned_put_entry(t, g, pf)) {
			pf->flags &= ~PLANNED_RECORD;
			continue;
		}
		pf->flags |= PLANNED_WRITTEN;
		if (unlikely(frames_is_cut(t, g)))
			frames_mark_depth(t, g->time_ns);
	}
}

bool planned_is_top_written(struct thread *t)
{
	planned_settle(t);
	return planned_frame_of(t, t->top)->flags & PLANNED_WRITTEN;
}

/*
 * HOT: decides about a call that ends at @now_ns, and whose ENTRY was held back. True when the call
 * is recorded.
 */
static bool is_kept(const struct thread *t, const struct frame *f, const struct planned_frame *pf,
		    const struct selection *inside, uint64_t now_ns)
{
	if (pf->flags & PLANNED_KEEP)
		return true;
	if (t->planned->has_caller && !(pf->flags & PLANNED_CALLER))
		return false;
	return now_ns - f->time_ns > inside->threshold_ns;
}

void planned_put_exit(struct thread *t, const struct frame *f, const struct planned_frame *pf,
		      uint64_t now_ns, const struct arch_regs *regs)
{
	struct planned *p = t->planned;
	uint32_t len = 0;

	if (regs && unlikely(pf->result) && has_args_room(p))
		len = capture_retval(pf->result, regs, p->args + p->args_top);

	/*
	 * Watched values get the time @now_ns - 1, and the EXIT gets the time @now_ns. So the
	 * watched values are written before the EXIT.
	 */
	if (p->has_watch)
		watch_look(t, now_ns - 1);
	if (unlikely(pf->flags & PLANNED_READ)) {
		struct reading now;
		struct take_reading take = { pf->read, &now };

		slow_call(planned_take_reading, &take);
		reads_emit(t, now_ns, &now, &t->planned->readings[f - t->frames]);
	}
	if (unlikely(!emit_record(t, now_ns, f->data | RECORD_EXIT, p->args + p->args_top, len)))
		note_lost(t, 1);
}

NOINLINE static void leave_decided(struct thread *t, const struct arch_regs *regs)
{
	struct planned *p = t->planned;
	struct frame *f = t->top;
	struct planned_frame *pf = planned_frame_of(t, f);
	struct selection inside = p->now;

	if (unlikely(pf->flags & PLANNED_RECOVER) && regs)
		planned_show_returns(t, f, false);
	planned_drop(t, pf);
	if (!(pf->flags & PLANNED_RECORD) || !probe.is_on || !probe.tracing)
		return;

	if (pf->flags & PLANNED_WRITTEN)
		hot_be_known(t);

	uint64_t now_ns = p->estimate_ns ? p->estimate_ns : planned_clock(t);

	if (!(pf->flags & PLANNED_WRITTEN)) {
		if (!is_kept(t, f, pf, &inside, now_ns))
			return;
		planned_write_entries(t, f);
		if (!(pf->flags & (PLANNED_WRITTEN | PLANNED_OFF)))
			return;
	}
	planned_put_exit(t, f, pf, now_ns, regs);
}

/*
 * Handles all returns outside of the common cases. planned_prepare() needs more stack than any
 * other part of this work. So planned_prepare() is called before the frame of leave_decided() is on
 * the stack.
 */
NOINLINE static void leave_prepared(struct thread *t, const struct arch_regs *regs)
{
	planned_prepare(t);
	leave_decided(t, regs);
	planned_open(t, planned_frame_of(t, t->top));
}

void planned_leave_kept(struct thread *t)
{
	bool is_first = !t->planned->estimate_ns;

	planned_settle(t);
	if (is_first)
		planned_begin_estimate(t);
	leave_prepared(t, NULL);
	if (is_first)
		planned_end_estimate(t);
}

bool planned_leave_admitted(struct thread *t)
{
	uint64_t now_ns;

	if (!probe_is_recording() || !fast_has_room(t) || unlikely(!fast_clock(t, &now_ns)))
		return false;
	planned_admit_over(t);
	fast_put_exit(t, now_ns);
	return true;
}

void planned_leave_unseen(struct thread *t)
{
	struct frame *f = t->top;
	bool is_shown;

	planned_settle(t);
	is_shown = (planned_frame_of(t, f)->flags & PLANNED_RECORD) && probe.is_on && probe.tracing;
	if (is_shown && !emit_record(t, hot_clock(t), frame_exit(f), NULL, 0))
		note_lost(t, 1);
	planned_drop(t, planned_frame_of(t, f));
	planned_open(t, planned_frame_of(t, t->top));
}

/*
 * Ends a call that the fast paths have pushed but could not end, for one of these reasons:
 *
 * - A longjmp(3) or the like has ended calls inside of this call without removing their frames.
 * - The ring had no room.
 * - The clock of the thread needed a new fit (clock_refit()).
 *
 * Returns true when the call is ended. In this case the thread is still open (planned_pass.h).
 */
static bool leave_passing(struct thread *t)
{
	if (t->top <= t->fast_base || !probe_is_recording() ||
	    !hot_reserve(t, sizeof(struct record)) || t->top <= t->fast_base)
		return false;
	fast_put_exit(t, hot_clock(t));
	return true;
}

void planned_leave_top(struct thread *t, const struct arch_regs *regs)
{
	if (t->planned->open_base) {
		if (planned_leave_open(t, regs) || leave_passing(t))
			return;
		planned_close(t);
	}
	if (unlikely(!planned_fast_leave(t, regs)))
		leave_prepared(t, regs);
}
