/*
 * Fast paths for common calls and returns that the stubs do not handle. At a call, the thread must
 * be in the state THREAD_OPEN. At a return, the state must be THREAD_OPEN or THREAD_BARRED
 * (state.h).
 */
#ifndef UTRAIL_LIBMCOUNT_PLANNED_OPEN_H
#define UTRAIL_LIBMCOUNT_PLANNED_OPEN_H

#include "libmcount/hot/planned_fast.h"

/*
 * HOT, in a thread in the state THREAD_OPEN. Pushes the frame of a call, captures the call's
 * arguments, and prepares the capture of the result. planned_is_alike() must be true for @func.
 * Returns false when nothing was done.
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
	    /*
	     * While fault_state is unknown, take the slow path. There planned_prepare() reads the
	     * signal mask, which takes much stack.
	     */
	    unlikely(fault_state == FAULT_UNKNOWN) || unlikely(!fast_clock(t, &now_ns)))
		return false;

	uint64_t data = record_data(RECORD_ENTRY, 0, addr) | fast_depth_inside(t->top);

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
	planned_put_quick_entry(t, slot, data, now_ns, args, regs);
	return true;
}

/*
 * Ends the innermost call, and captures the call's return value. Does nothing if
 * planned_fast_capture() has not prepared this capture. Returns false when nothing was done.
 */
static inline bool planned_leave_captured(struct thread *t, const struct arch_regs *regs)
{
	const struct frame *f = t->top;
	struct planned_frame *pf = planned_frame_of(t, f);
	const struct capture_step *result = regs ? pf->result : NULL;
	uint64_t now_ns;

	/*
	 * A signal handler may have jumped out of planned_fast_capture() before the push of the
	 * frame. In that case pf->open does not belong to @f.
	 */
	if (pf->open.began_ns != f->time_ns || !probe_is_recording() ||
	    !planned_has_room(t, result) || unlikely(!fast_clock(t, &now_ns)))
		return false;

	t->last_ns = now_ns;
	state_let_go(t, f);
	t->top--;
	t->written = t->top;
	planned_put_quick_exit(t, f, pf, now_ns, result, regs);
	return true;
}

/*
 * WARM. Ends the frame thread->admitted. The stubs call this function rarely, because they end most
 * such frames themselves. So the function is not inline. Returns false, and does nothing, when
 * recording is off, the ring is full, or the clock must be fitted again.
 */
bool planned_leave_admitted(struct thread *t);

/*
 * Ends the innermost frame if it is thread->fast_base and is not planned.open_base. The thread must
 * be in the state THREAD_OPEN or THREAD_BARRED. The fast paths of the stubs and of hot/fast.h end
 * the frames above thread->fast_base. Returns false when nothing was done.
 */
static inline bool planned_leave_open(struct thread *t, const struct arch_regs *regs)
{
	struct planned *p = t->planned;
	struct frame *f = t->top;

	if (f != t->fast_base || f == p->open_base)
		return false;
	if (f->time_ns > OPEN_TOO_DEEP) {
		if (likely(f != t->admitted))
			return planned_leave_captured(t, regs);
		return planned_leave_admitted(t);
	}
	if (likely(f->time_ns == OPEN_OUT)) {
		p->now.out = 0;
		state_follow(t, p, THREAD_BARRED, RETURN_OPT_OUT);
	}
	state_let_go(t, f);
	t->top = f - 1;
	return true;
}

/*
 * Pushes the frame of a call that is opted out: no call within this call is recorded. The thread's
 * state changes from THREAD_OPEN to THREAD_BARRED, and stays THREAD_BARRED until this call ends.
 * Returns false when nothing was done.
 */
static inline bool planned_fast_bar(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr)
{
	struct planned *p = t->planned;

	if (!probe_is_recording() || !probe_skips || t->top >= t->limit)
		return false;
	planned_push_open(t, slot, ret, addr, OPEN_OUT);
	guard_barrier();
	p->now.out = 1;
	state_follow(t, p, THREAD_OPEN, CALL_OPT_OUT);
	return true;
}

/*
 * True when the thread's cache (struct planned_known) has the function at @addr, and
 * planned_is_alike() is false for this function. The cache lacks functions that the thread has not
 * called yet, and functions that were dropped from the cache.
 */
static inline bool planned_knows_rule(const struct thread *t, uint64_t addr)
{
	const struct planned_known *known = planned_known_of(t->planned, addr);

	return known->addr == addr && !planned_is_alike(t->planned, known->func);
}

/*
 * Enters a call. To do so, calls planned_fast_bar() or planned_fast_capture(), if possible. The
 * thread must be in the state THREAD_OPEN. Returns false when nothing was done.
 */
static inline bool planned_fast_enter_open(struct thread *t, uint64_t slot, uint64_t ret,
					   uint64_t addr, const struct arch_regs *regs)
{
	const struct planned_known *known = planned_known_of(t->planned, addr);
	const struct live_func *func = known->func;

	if (known->addr != addr || !func)
		return false;
	if (func->rule && likely(func->rule->flags == PLAN_NOTRACE))
		return planned_fast_bar(t, slot, ret, addr);
	return planned_is_alike(t->planned, func) &&
	       planned_fast_capture(t, slot, ret, addr, func, regs);
}

#endif
