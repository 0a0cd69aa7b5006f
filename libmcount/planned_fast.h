/* The common case of calls that are not all alike: a function without a rule, with arguments at most; see planned.h. */
#ifndef UTRAIL_LIBMCOUNT_PLANNED_FAST_H
#define UTRAIL_LIBMCOUNT_PLANNED_FAST_H

#include "libmcount/capture.h"
#include "libmcount/fast.h"
#include "libmcount/planned.h"

/*
 * HOT. As in fast.h these do the whole work, or find out that it is not the common case and have changed nothing. What they do
 * is what planned.c would do, without the detours for what is not there.
 */

static inline struct planned_frame *planned_frame_of(const struct thread *t, const struct frame *f)
{
	return &t->planned->frames[f - t->frames];
}

static inline struct planned_known *planned_known_of(struct planned *p, uint64_t addr)
{
	/* Fibonacci hashing. */
	return &p->known[(addr * 0x9e3779b97f4a7c15ULL) >> 32 & (PLANNED_KNOWN - 1)];
}

/* Whether nothing but the function itself decides about the next call. */
static inline bool planned_is_simple(const struct thread *t)
{
	const struct planned *p = t->planned;

	return p->is_simple && p->now.out == 0 && p->now.depth != 0 && probe.is_on &&
	       probe.tracing && !probe.has_caller && !probe.has_location &&
	       (!probe.has_filter || p->now.in) &&
	       !atomic_load_explicit(&probe.control->finished, memory_order_relaxed);
}

/* Room for a record and what a program may put behind it. */
static inline bool planned_has_room(const struct thread *t, uint32_t capture)
{
	uint64_t bytes = sizeof(struct record) + (capture == PLAN_NO_CAPTURE ? 0 : CAPTURE_ROOM);

	return likely((uint64_t)(t->end - t->at) >= bytes);
}

static inline bool planned_fast_enter(struct thread *t, uint64_t *slot, uint64_t addr,
				      const struct arch_regs *regs)
{
	struct planned *p = t->planned;
	const struct planned_known *known = planned_known_of(p, addr);
	const struct plan_func *func = known->func;
	struct frame *f = t->top + 1;
	struct planned_frame *pf = planned_frame_of(t, f);
	bool is_held_back = p->now.threshold_ns != 0;
	uint64_t now_ns;

	if (!planned_is_simple(t) || known->addr != addr ||
	    p->table != __atomic_load_n(&probe.table, __ATOMIC_RELAXED) || t->top >= t->limit)
		return false;
	if (func && (func->rule != PLAN_NO_RULE || func->end - func->start < p->now.size))
		return false;

	uint32_t capture = func ? func->capture : PLAN_NO_CAPTURE;

	if (is_held_back ? capture != PLAN_NO_CAPTURE && p->args_bytes - p->args_top < CAPTURE_ROOM
			 : !(pf[-1].flags & PLANNED_WRITTEN) || !planned_has_room(t, capture))
		return false;
	if (unlikely(!fast_clock(t, &now_ns)))
		return false;

	uint64_t data = record_data(RECORD_ENTRY, p->now.level, addr);

	t->last_ns = now_ns;
	f->slot = (uint64_t)slot;
	f->ret = *slot;
	f->data = data;
	f->time_ns = now_ns;
	pf->before = p->now;
	pf->rule = NULL;
	pf->capture = capture;
	pf->flags = is_held_back ? PLANNED_RECORD : PLANNED_RECORD | PLANNED_WRITTEN;
	pf->args_len = 0;
	pf->args_at = p->args_top;
	guard_barrier();
	t->top = f;
	guard_barrier();
	p->now.depth--;
	p->now.level++;
	if (is_held_back) {
		if (capture != PLAN_NO_CAPTURE) {
			pf->args_len = capture_args_quick(capture, regs, slot,
							  p->args + p->args_top);
			p->args_top += pf->args_len;
		}
		return true;
	}

	uint32_t len = 0;

	if (capture != PLAN_NO_CAPTURE)
		len = capture_args_quick(capture, regs, slot,
					 (uint8_t *)t->at + sizeof(struct record));
	hot_commit(t, put_record(t->at, now_ns, data | (len ? RECORD_MORE : 0)) + len);
	return true;
}

static inline bool planned_fast_leave(struct thread *t, const struct arch_regs *regs)
{
	struct planned *p = t->planned;
	struct frame *f = t->top;
	struct planned_frame *pf = planned_frame_of(t, f);
	bool is_written = pf->flags & PLANNED_WRITTEN;
	uint64_t now_ns;

	if (!p->is_simple || (pf->flags | PLANNED_WRITTEN) != (PLANNED_RECORD | PLANNED_WRITTEN) ||
	    pf->rule || !probe.is_on || !probe.tracing || probe.has_caller ||
	    (is_written && !planned_has_room(t, pf->capture)) || unlikely(!fast_clock(t, &now_ns)))
		return false;
	if (!is_written && now_ns - f->time_ns > p->now.threshold_ns)
		return false;
	t->last_ns = now_ns;
	p->now = pf->before;
	p->args_top = pf->args_at;
	guard_barrier();
	t->top = f - 1;
	if (!is_written)
		return true;

	uint32_t len = 0;

	if (pf->capture != PLAN_NO_CAPTURE && regs)
		len = capture_retval_quick(pf->capture, regs,
					   (uint8_t *)t->at + sizeof(struct record));
	hot_commit(t, put_record(t->at, now_ns, f->data | RECORD_EXIT | (len ? RECORD_MORE : 0)) +
			      len);
	return true;
}

#endif
