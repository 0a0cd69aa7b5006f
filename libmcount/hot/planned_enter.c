/* Handles calls that begin while rules or filters apply (see planned.h). */
#include "libmcount/hot/planned_private.h"

#include "libmcount/hot/callers.h"
#include "libmcount/values/capture.h"
#include "libmcount/plan/conds.h"
#include "libmcount/values/emit.h"
#include "libmcount/system/fault.h"
#include "libmcount/hot/frames.h"
#include "libmcount/hot/hot.h"

/* The decision about a call. */
struct decision {
	struct selection next;
	const struct plan_rule *rule;
	const struct live_func *func; /* NULL: no values are captured */
	uint16_t flags;		      /* enum planned_flags */
	bool has_change;
	bool finishes;
};

/* HOT: lets the assembler stubs skip later calls to the function at @addr. */
static inline void note_skip(struct thread *t, uint64_t addr)
{
	struct planned *p = t->planned;
	struct planned_place *table = p->now.out ? p->skip_out : p->skip_outside;
	uint64_t *place = &table[planned_place_of(addr)].alone;

	p->has_noted = true;
	*place = addr;
	if (unlikely(probe.plan.flags & PLAN_STEERABLE))
		plan_update_check_skip(p, place);
}

static inline const struct live_func *find_func(struct planned *p, uint64_t addr)
{
	struct planned_known *known = planned_known_of(p, addr);

	if (unlikely(known->addr != addr)) {
		known->func = plans_find(p->plan, addr);
		known->addr = addr;
	}
	return known->func;
}

static inline uint32_t effective_flags(const struct planned *p, const struct plan_rule *rule,
				       const uint64_t *slot, const struct arch_regs *regs)
{
	uint32_t flags = rule->flags;

	if (unlikely(flags & PLAN_COND) &&
	    !conds_hold(p->plan->conds + rule->cond, rule->nr_conds, slot, regs))
		flags &= ~PLANNED_CONDITIONAL;
	return flags;
}

static void switch_off(struct thread *t)
{
	/*
	 * If recording is on, write the ENTRYs of open calls, so that these calls remain visible.
	 * The EXITs of these calls are not written while recording is off.
	 */
	if (probe.is_on)
		planned_write_entries(t, t->top);
	__atomic_store_n(&probe.is_on, false, __ATOMIC_RELAXED);
}

/*
 * Obeys the actions trace_on and trace_off of a rule. These actions switch recording on or off for
 * all threads of the process.
 */
static void obey_switches(struct thread *t, const struct plan_rule *rule)
{
	if (rule->flags & PLAN_TRACE_ON)
		__atomic_store_n(&probe.is_on, true, __ATOMIC_RELAXED);
	if (rule->flags & PLAN_TRACE_OFF_AT)
		switch_off(t);
}

/*
 * Obeys the actions of a rule for a call that has passed the filters. planned_limit() sets the
 * rule's limits.
 */
static void obey_rule(const struct plan_rule *rule, struct decision *d)
{
	if (rule->flags & PLAN_TRACE)
		d->flags |= PLANNED_KEEP;
	if (rule->flags & PLAN_CALLER)
		d->flags |= PLANNED_CALLER;
	if (rule->flags & PLAN_RECOVER)
		d->flags |= PLANNED_RECOVER;
	if (rule->flags & PLAN_CALLSITE)
		d->flags |= PLANNED_CALLSITE;
	d->finishes = (rule->flags & PLAN_FINISH) != 0;
	d->has_change |= (rule->flags & (PLAN_DEPTH | PLAN_TIME | PLAN_SIZE | PLAN_RECOVER)) != 0;
}

/*
 * HOT: decides about a call of the function at @addr, by the filters and by the function's rule.
 * Stores the decision in @d. When the call needs no frame, PLANNED_RECORD is not set in d->flags,
 * and d->has_change is false.
 */
static inline void decide_call(struct thread *t, uint64_t addr, const uint64_t *slot,
			       const struct arch_regs *regs, struct decision *d)
{
	struct planned *p = t->planned;
	const struct live_func *func;
	enum planned_verdict verdict;
	uint32_t flags = 0;

	/*
	 * The members are stored one by one. For a struct literal the compiler would clear the
	 * whole struct first, which costs more than all stores.
	 */
	d->next = p->now;
	d->rule = NULL;
	d->func = NULL;
	d->flags = 0;
	d->has_change = false;
	d->finishes = false;
	if (p->now.out || unlikely(!probe.tracing))
		return;
	func = find_func(p, addr);
	if (func && func->rule) {
		d->rule = func->rule;
		flags = effective_flags(p, d->rule, slot, regs);
	}
	verdict = planned_judge(p, &d->next, func, d->rule, flags, false);
	d->has_change = (flags & (PLAN_FILTER | PLAN_NOTRACE)) != 0;
	if (d->rule && (verdict != PLANNED_KEPT_OUT || (flags & PLAN_NOTRACE)))
		obey_switches(t, d->rule);
	if (verdict == PLANNED_KEPT_OUT)
		return;
	if (d->rule)
		obey_rule(d->rule, d);
	d->func = func;
	if (verdict != PLANNED_IS_RECORD)
		return;
	d->flags |= PLANNED_RECORD;
	/* A call that ends the recording (`finish`) is shown, even if recording was off. */
	if (!probe.is_on && !d->finishes)
		d->flags |= PLANNED_OFF;
}

static inline bool is_written_at_once(const struct planned *p, const struct selection *s,
				      uint16_t flags)
{
	if (flags & PLANNED_OFF)
		return false;
	return (flags & PLANNED_KEEP) ||
	       (s->threshold_ns == 0 && (!p->has_caller || (flags & PLANNED_CALLER)));
}

static void read_at_entry(struct thread *t, const struct frame *f, struct planned_frame *pf,
			  uint32_t what)
{
	struct planned *p = t->planned;

	if (!p->readings)
		slow_call(planned_make_readings, p);
	if (!p->readings)
		return;

	struct take_reading take = { what, &p->readings[f - t->frames] };

	slow_call(planned_take_reading, &take);
	pf->read = what;
	pf->flags |= PLANNED_READ;
}

/*
 * Does those actions of @rule that take place at the entry of the call with frame @f. When this
 * function runs, planned.now already applies to the calls inside of that call.
 */
static void begin_actions(struct thread *t, const struct frame *f, struct planned_frame *pf,
			  const struct plan_rule *rule)
{
	if ((pf->flags & PLANNED_RECOVER) && !(probe.plan.flags & PLAN_ESTIMATE))
		planned_show_returns(t, f, true);
	if ((rule->flags & PLAN_READ) && (pf->flags & PLANNED_RECORD) && !(pf->flags & PLANNED_OFF))
		read_at_entry(t, f, pf, rule->read);
}

/*
 * HOT: stores the arguments of a new frame. The program may overwrite the arguments before the
 * ENTRY of the frame is written.
 */
static void keep_args(struct planned *p, struct planned_frame *pf, const struct capture_step *args,
		      const uint64_t *slot, const struct arch_regs *regs)
{
	if (unlikely(!has_args_room(p)))
		return;
	pf->args_len = capture_args(args, regs, slot, p->args + p->args_top);
	p->args_top += pf->args_len;
}

/* HOT: pushes the frame of a call, and begins the actions of the called function's rule. */
static inline void push_decided(struct thread *t, const uint64_t *slot, uint64_t id, uint64_t ret,
				uint64_t addr, const struct arch_regs *regs,
				const struct decision *d)
{
	struct planned *p = t->planned;
	bool is_recorded = d->flags & PLANNED_RECORD;

	if (is_recorded && !d->next.threshold_ns)
		hot_be_known(t);

	uint64_t now_ns = is_recorded ? planned_clock(t) : 0;

	planned_push(t, planned_next_frame(t), id, ret,
		     record_data(RECORD_ENTRY, p->now.level, addr), now_ns,
		     regs && d->func ? d->func->result : NULL, d->flags);
	p->now = d->next;
	state_select(t);

	struct frame *f = t->top;
	struct planned_frame *pf = planned_frame_of(t, f);

	if (d->rule)
		begin_actions(t, f, pf, d->rule);
	if (unlikely(d->func) && regs && d->func->args && (pf->flags & PLANNED_RECORD))
		keep_args(p, pf, d->func->args, slot, regs);
	if ((pf->flags & PLANNED_RECORD) && is_written_at_once(p, &d->next, pf->flags)) {
		planned_write_entries(t, f);
		p->args_top = pf->args_at;
	}
}

/*
 * Obeys `finish` in a call that has passed the filters. Writes the ENTRYs of open calls and ends
 * the recording.
 */
static void finish_recording(struct thread *t)
{
	planned_write_entries(t, t->top);
	probe_finish();
}

/*
 * PLAN_ESTIMATE: called when a new call begins. Ends the innermost frames whose calls have
 * returned. A call has returned if the slot of the call is unreadable, or no longer contains the
 * return address. The addresses of the slots do not tell whether an older call has returned: the
 * slot of the new call may be below the slot of a call that has returned, and also below the slot
 * of a call that has not returned.
 */
NOINLINE static void leave_gone(struct thread *t)
{
	uint64_t now;

	while (t->top > t->frames && !(t->top->slot & FRAME_EXPLICIT) &&
	       (fault_copy(&now, (const void *)t->top->slot, sizeof(now)) != sizeof(now) ||
		now != t->top->ret)) {
		if (!t->planned->estimate_ns)
			planned_begin_estimate(t);
		frames_leave_any(t);
	}
	planned_end_estimate(t);
}

static inline uint32_t enter_frame(struct thread *t, uint64_t *slot, uint64_t addr,
				   const struct arch_regs *regs, const struct decision *d)
{
	bool estimates = probe.plan.flags & PLAN_ESTIMATE;
	uint64_t ret = *slot;

	if (unlikely(!estimates && !callers_may_replace(ret)))
		ret |= FRAME_KEPT;
	push_decided(t, slot, (uint64_t)slot, ret, addr, regs, d);
	if (unlikely(estimates || (ret & FRAME_KEPT)))
		return 0;
	*slot = (uint64_t)arch_return_trampoline;
	return 1;
}

/*
 * WARM: called when the recorder announces a new plan, or the end of the recording. Calls
 * plan_update_obey(). True when @t has switched to another plan.
 */
NOINLINE static bool take_news(struct thread *t)
{
	plan_update_obey(t);
	if (planned_is_current(t->planned))
		return false;
	planned_take_up(t);
	return true;
}

/*
 * HOT: true for calls that are opted out, or not opted in. Under most filters, most calls cost no
 * more than this test.
 */
static inline bool is_outside(struct planned *p, uint64_t addr)
{
	if (p->now.out)
		return true;
	return p->has_filter && p->now.in == 0 && !find_func(p, addr);
}

static inline bool is_unwanted(struct thread *t, uint64_t addr)
{
	if (!is_outside(t->planned, addr))
		return false;
	if (plan_update_has_news() && take_news(t) && !is_outside(t->planned, addr))
		return false;
	note_skip(t, addr);
	return true;
}

NOINLINE static uint32_t enter_decided(struct thread *t, uint64_t *slot, uint64_t addr,
				       const struct arch_regs *regs)
{
	struct decision d;
	uint32_t replaced = 0;

	decide_call(t, addr, slot, regs, &d);
	if (t->top >= t->limit) {
		if (d.flags & PLANNED_RECORD)
			note_too_deep(t);
	} else if ((d.flags & PLANNED_RECORD) || d.has_change) {
		replaced = enter_frame(t, slot, addr, regs, &d);
	}
	if (unlikely(d.finishes))
		finish_recording(t);
	else
		planned_open(t, planned_frame_of(t, t->top));
	return replaced;
}

/*
 * Handles calls that are not common cases. planned_prepare() may need much room on the program's
 * stack. So planned_prepare() is complete before enter_decided() takes room on the stack.
 */
NOINLINE static uint32_t enter_prepared(struct thread *t, uint64_t *slot, uint64_t addr,
					const struct arch_regs *regs)
{
	/*
	 * leave_gone() uses the time of the last record to estimate when calls returned. Reading
	 * the clock in planned_prepare() overwrites this time. So leave_gone() runs first.
	 */
	if (unlikely(probe.plan.flags & PLAN_ESTIMATE))
		leave_gone(t);
	planned_prepare(t);
	if (plan_update_has_news() && take_news(t) && is_unwanted(t, addr))
		return 0;
	return enter_decided(t, slot, addr, regs);
}

/*
 * HOT: opens a ready thread (planned_pass.h) at the call of a function whose rule has PLAN_FILTER
 * and nothing else. Adds the function to the stub's table. At a later call of the function, the
 * stub can then open the thread.
 */
NOINLINE static bool admit_call(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr)
{
	struct planned *p = t->planned;
	const struct planned_known *known = planned_known_of(p, addr);
	const struct live_func *func = known->func;

	if (t->top != p->open_base || !probe_is_recording() || !probe_skips ||
	    known->addr != addr || !func || !func->rule || func->rule->flags != PLAN_FILTER ||
	    func->args || func->result || !planned_push_admitted(t, slot, ret, addr))
		return false;
	planned_note(p, &p->skip_outside[planned_place_of(addr)].call, -addr);
	return true;
}

/*
 * HOT: in an open thread (planned_pass.h), pushes the frame of a call if planned_may_pass() is true
 * for the called function. Called when the stub cannot push the frame, for one of these reasons:
 *
 * - The stub does not know the function.
 * - A jump has ended calls without removing their frames.
 * - The ring has no room.
 * - The clock of the thread must be fitted again (clock_refit()).
 */
NOINLINE static bool push_passing(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr)
{
	bool is_known = planned_knows(t, addr);

	if (!probe_is_recording() || !probe_skips || plan_update_has_news() ||
	    (!is_known && !planned_may_pass(t->planned, find_func(t->planned, addr))))
		return false;
	/*
	 * A call that is too deep needs no room in the ring, so t->fast_limit is tested before
	 * hot_reserve(). During hot_reserve(), a fork may be reported, or the recording may end.
	 * Either event may end the thread's open state, and t->fast_limit then permits no frame. So
	 * t->fast_limit is tested again.
	 */
	if (t->top >= t->fast_limit || !hot_reserve(t, sizeof(struct record)) ||
	    t->top >= t->fast_limit)
		return false;
	fast_put_frame(t, slot, ret, record_data(RECORD_ENTRY, 0, addr) | fast_depth_inside(t->top),
		       hot_clock(t), false);
	if (!is_known)
		planned_note_pass(t->planned, addr);
	return true;
}

/*
 * Enters a call in a thread whose state is not a settled one (state.h). Returns false and does
 * nothing when other code must handle the call.
 */
static inline bool push_unsettled(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr,
				  const struct arch_regs *regs)
{
	if (!planned_is_open(t))
		return admit_call(t, slot, ret, addr);
	if (planned_fast_enter_open(t, slot, ret, addr, regs))
		return true;
	return !planned_knows_rule(t, addr) && push_passing(t, slot, ret, addr);
}

/*
 * Pushes the frame of a call. If the result is false, the thread is in a settled state (state.h),
 * and the caller must handle the call.
 */
static inline bool push_or_settle(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr,
				  const struct arch_regs *regs)
{
	if (t->planned->open_base) {
		if (push_unsettled(t, slot, ret, addr, regs))
			return true;
		planned_close(t);
	}
	return planned_fast_enter_known(t, slot, ret, addr, regs);
}

/*
 * Tries the fast ways to push the frame of a call. The thread may be in any state (state.h).
 * Returns false and pushes nothing when another function must handle the call.
 */
static inline bool push_simple(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr,
			       const struct arch_regs *regs)
{
	if (t->planned->open_base)
		return push_unsettled(t, slot, ret, addr, regs);
	return planned_fast_enter_known(t, slot, ret, addr, regs);
}

static inline bool enter_simple(struct thread *t, uint64_t *slot, uint64_t addr,
				const struct arch_regs *regs)
{
	if (!push_simple(t, (uint64_t)slot, *slot, addr, regs))
		return false;
	*slot = (uint64_t)arch_return_trampoline;
	return true;
}

NOINLINE static uint32_t enter_settled(struct thread *t, uint64_t *slot, uint64_t addr,
				       const struct arch_regs *regs)
{
	planned_close(t);
	if (unlikely(!callers_know(*slot)))
		return enter_prepared(t, slot, addr, regs);
	return enter_simple(t, slot, addr, regs) || enter_prepared(t, slot, addr, regs);
}

bool planned_is_too_deep(struct thread *t, uint64_t addr)
{
	const struct live_func *func;

	if (!planned_is_open(t) || planned_open_calls(t) < t->planned->now.depth ||
	    plan_update_has_news())
		return false;
	func = find_func(t->planned, addr);
	if (func && func->rule)
		return false;
	if (!func || (!func->args && !func->result))
		planned_note_pass(t->planned, addr);
	return true;
}

bool planned_is_left_out(struct thread *t, uint64_t addr)
{
	struct planned *p = t->planned;
	const struct live_func *func;

	if (!p->has_left_out || unlikely(plan_update_has_news()))
		return false;
	func = find_func(p, addr);
	if (!func || !func->rule || func->rule->flags != PLAN_LEFT_OUT)
		return false;
	if (planned_is_open(t))
		planned_note(p, &p->pass[planned_place_of(addr)].alone, addr);
	return true;
}

bool planned_is_unwanted(struct thread *t, uint64_t addr)
{
	if (unlikely(!planned_is_current(t->planned)))
		planned_take_up(t);
	return is_unwanted(t, addr);
}

/*
 * Handles a call under the plan that the thread knows. There are three cases: enter_simple() does
 * not handle the call, the return address of the call must not be replaced, or the call is the
 * thread's first call under the plan.
 */
NOINLINE static uint32_t enter_known(struct thread *t, uint64_t *slot, uint64_t addr,
				     const struct arch_regs *regs)
{
	if ((is_unwanted(t, addr) || planned_is_left_out(t, addr)) &&
	    likely(!(probe.plan.flags & PLAN_ESTIMATE)))
		return 0;
	if (planned_is_too_deep(t, addr))
		return 0;
	if (t->planned->open_base)
		return enter_settled(t, slot, addr, regs);
	return enter_prepared(t, slot, addr, regs);
}

/* Handles a call when there is a new plan, or when the thread has no plan yet. */
NOINLINE static uint32_t enter_anew(struct thread *t, uint64_t *slot, uint64_t addr,
				    const struct arch_regs *regs)
{
	if (t->planned)
		planned_take_up(t);
	else if (!planned_begin_late(t))
		return 0;
	return enter_known(t, slot, addr, regs);
}

uint32_t planned_enter(struct thread *t, uint64_t *slot, uint64_t addr,
		       const struct arch_regs *regs)
{
	if (unlikely(frame_is_kept(t->top)))
		frames_leave_returned(t, slot);
	if (unlikely(!t->planned) || unlikely(!planned_is_current(t->planned)))
		return enter_anew(t, slot, addr, regs);
	if (unlikely(!callers_know(*slot)) && !callers_look_up(*slot))
		return enter_known(t, slot, addr, regs);
	if (enter_simple(t, slot, addr, regs))
		return 1;
	return enter_known(t, slot, addr, regs);
}

/*
 * True when the thread has or gets a struct planned, and has room for a frame. If there is no room,
 * and the call would be recorded, note_too_deep() counts the call.
 */
static bool has_frame_for(struct thread *t, uint64_t addr)
{
	if (unlikely(!t->planned) && !planned_begin_late(t))
		return false;
	if (likely(t->top < t->limit))
		return true;
	if (planned_would_record(t, addr))
		note_too_deep(t);
	return false;
}

/*
 * Enters a call of a function that announces its return (XRay). Pushes a frame if decide_call()
 * finds that the call needs a frame.
 */
static void judge_announced(struct thread *t, const uint64_t *slot, uint64_t id, uint64_t ret,
			    uint64_t addr, const struct arch_regs *regs)
{
	struct decision d;

	decide_call(t, addr, slot, regs, &d);
	if ((d.flags & PLANNED_RECORD) || d.has_change)
		push_decided(t, slot, id, ret, addr, regs, &d);
	if (unlikely(d.finishes))
		finish_recording(t);
}

bool planned_enter_explicit(struct thread *t, uint64_t sp, uint64_t ret, uint64_t addr,
			    const struct arch_regs *regs)
{
	struct decision d;

	if (!has_frame_for(t, addr))
		return false;
	/* The caller has called planned_is_unwanted(), which takes up a newer plan. */
	if (push_or_settle(t, sp, ret, addr, regs))
		return true;
	if (regs)
		planned_prepare(t);
	if (plan_update_has_news())
		take_news(t);
	/*
	 * If @regs is not NULL, the called function is a Python function. In @regs, the
	 * register that passes the first argument points to an array of struct capture_text.
	 */
	decide_call(t, addr, regs ? planned_slot(sp) : NULL, regs, &d);
	push_decided(t, planned_slot(sp), sp, ret, addr, regs, &d);
	if (unlikely(d.finishes))
		finish_recording(t);
	return true;
}

void planned_enter_announced(struct thread *t, const uint64_t *slot, uint64_t addr,
			     const struct arch_regs *regs)
{
	uint64_t id = (uint64_t)slot | FRAME_EXPLICIT;

	if (!has_frame_for(t, addr) || planned_is_unwanted(t, addr))
		return;
	if (planned_is_too_deep(t, addr) || push_or_settle(t, id, *slot, addr, regs))
		return;
	planned_prepare(t);
	if (plan_update_has_news() && take_news(t) && is_unwanted(t, addr))
		return;
	judge_announced(t, slot, id, *slot, addr, regs);
}

void planned_instant(struct thread *t, const uint64_t *slot, uint64_t addr,
		     const struct arch_regs *regs, const struct arch_regs *result)
{
	struct decision d;

	if (!has_frame_for(t, addr))
		return;
	if (plan_update_has_news())
		plan_update_obey(t);
	if (unlikely(!planned_is_current(t->planned)))
		planned_take_up(t);
	planned_settle(t);
	decide_call(t, addr, slot, regs, &d);
	if (!(d.flags & PLANNED_RECORD) || !is_written_at_once(t->planned, &d.next, d.flags))
		return;

	struct frame f = {
		.time_ns = hot_clock(t),
		.data = record_data(RECORD_ENTRY, t->planned->now.level, addr),
	};

	struct planned *p = t->planned;
	struct planned_frame pf = {
		.result = d.func ? d.func->result : NULL,
		.flags = PLANNED_RECORD,
		.args_at = p->args_top,
	};

	planned_write_entries(t, t->top);
	if (d.func && d.func->args)
		keep_args(p, &pf, d.func->args, slot, regs);
	if (planned_put_entry(t, &f, &pf))
		planned_put_exit(t, &f, &pf, f.time_ns, result);
	p->args_top = pf.args_at;
}
