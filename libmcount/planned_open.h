/*
 * The common cases of calls in a thread that is open, which are not the stubs'; and of those that
 * open it.
 */
#ifndef UTRAIL_LIBMCOUNT_PLANNED_OPEN_H
#define UTRAIL_LIBMCOUNT_PLANNED_OPEN_H

#include "libmcount/planned_fast.h"

/*
 * HOT. As in planned_fast.h, for a thread that is open (planned_pass.h), which is simple then, and
 * stays so. Something is captured of a function without a rule. The frame and the records are those
 * of fast_push_alike().
 */
static inline bool planned_fast_capture(struct thread *t, uint64_t slot, uint64_t ret,
					uint64_t addr, const struct live_func *func,
					const struct arch_regs *regs)
{
	const struct capture_step *args = regs ? func->args : NULL;
	const struct capture_step *result = regs ? func->result : NULL;
	struct frame *f = t->top + 1;
	uint64_t now_ns;

	if ((!func->args && !func->result) || !probe_is_recording() || !probe_skips ||
	    t->top >= t->fast_limit || !planned_has_room(t, args) ||
	    /* The look at the mask costs a lot of stack: see planned_prepare(). */
	    unlikely(fault_state == FAULT_UNKNOWN) || unlikely(!fast_clock(t, &now_ns)))
		return false;

	uint64_t data = record_data(RECORD_ENTRY, 0, addr) | fast_depth_inside(t->top);
	uint32_t len = 0;

	t->last_ns = now_ns;
	f->slot = slot;
	f->ret = ret;
	f->data = data;
	f->time_ns = now_ns;
	if (result) {
		struct planned_frame *pf = planned_frame_of(t, f);

		pf->result = result;
		pf->open.began_ns = now_ns;
		state_keep_back(t, f);
	}
	guard_barrier();
	t->top = f;
	t->written = f;
	if (args)
		len = capture_args_quick(args, regs, planned_slot(slot),
					 (uint8_t *)t->at + sizeof(struct record));
	hot_commit(t, put_record(t->at, now_ns, data | (len ? RECORD_MORE : 0)) + len);
	return true;
}

/* The end of such a call, if its return value is captured. */
static inline bool planned_leave_captured(struct thread *t, const struct arch_regs *regs)
{
	const struct frame *f = t->top;
	const struct planned_frame *pf = planned_frame_of(t, f);
	const struct capture_step *result = regs ? pf->result : NULL;
	uint64_t now_ns;

	/* A handler may have jumped out between two stores: then it is of another frame. */
	if (pf->open.began_ns != f->time_ns || !probe_is_recording() ||
	    !planned_has_room(t, result) || unlikely(!fast_clock(t, &now_ns)))
		return false;

	uint32_t len = 0;

	t->last_ns = now_ns;
	state_let_go(t, f);
	t->top--;
	t->written = t->top;
	if (result)
		len = capture_retval_quick(result, regs, (uint8_t *)t->at + sizeof(struct record));
	hot_commit(t, put_record(t->at, now_ns, f->data | RECORD_EXIT | (len ? RECORD_MORE : 0)) +
			      len);
	return true;
}

/* HOT: the end of thread->admitted. Not inline, for the stubs see to most of them. */
bool planned_leave_admitted(struct thread *t);

/*
 * The innermost frame ends, of a thread that is open or barred. True: it was one that the fast
 * paths leave to this, and that is all.
 */
static inline bool planned_leave_open(struct thread *t, const struct arch_regs *regs)
{
	struct planned *p = t->planned;
	struct frame *f = t->top;

	if (f != t->fast_base || f == p->open_base)
		return false;
	if (f->time_ns > OPEN_TOO_DEEP)
		return f == t->admitted ? planned_leave_admitted(t)
					: planned_leave_captured(t, regs);
	if (likely(f->time_ns == OPEN_OUT)) {
		p->now.out = 0;
		state_follow(t, p, THREAD_BARRED, RETURN_OPT_OUT);
	}
	state_let_go(t, f);
	t->top = f - 1;
	return true;
}

/*
 * The same for a thread that is open, which is simple then, and a function that is opted out with
 * all that it calls.
 */
static inline bool planned_fast_bar(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr,
				    const struct live_func *func)
{
	if (!probe_is_recording() || !probe_skips || func->rule->flags != PLAN_NOTRACE ||
	    t->top >= t->limit)
		return false;
	planned_bar(t, slot, ret, addr);
	return true;
}

/* Either of these. */
static inline bool planned_fast_enter_open(struct thread *t, uint64_t slot, uint64_t ret,
					   uint64_t addr, const struct arch_regs *regs)
{
	const struct planned_known *known = planned_known_of(t->planned, addr);
	const struct live_func *func = known->func;

	if (known->addr != addr || !func)
		return false;
	return func->rule ? planned_fast_bar(t, slot, ret, addr, func)
			  : planned_fast_capture(t, slot, ret, addr, func, regs);
}

/*
 * HOT: a thread is ready, and calls a function that may be opted in by a rule that says no more,
 * which opens it. The next time the stub finds it.
 */
bool planned_fast_admit(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr);

#endif
