/*
 * The common cases of calls under a plan with rules (planned.h). In these cases the called function
 * has no rule, or its rule only opts in, opts out or sets limits. A call whose arguments or return
 * value are captured can also be a common case.
 */
#ifndef UTRAIL_LIBMCOUNT_PLANNED_FAST_H
#define UTRAIL_LIBMCOUNT_PLANNED_FAST_H

#include "libmcount/values/capture.h"
#include "libmcount/hot/fast.h"
#include "libmcount/system/fault.h"
#include "libmcount/hot/planned.h"
#include "libmcount/hot/planned_pass.h"
#include "libmcount/plan/plan_update.h"

/*
 * HOT. The functions planned_fast_*() that return bool do the whole work and return true, or return
 * false in an uncommon case. After false, frames, records and the selection are unchanged, but
 * planned.has_opted_in may be set. These functions are not for open threads. planned_pass.h tells
 * when a thread is open.
 */

static inline struct planned_frame *planned_frame_of(const struct thread *t, const struct frame *f)
{
	return &t->planned->frames[f - t->frames];
}

static inline struct planned_known *planned_known_of(struct planned *p, uint64_t addr)
{
	/* This is Fibonacci hashing. */
	return &p->known[(addr * 0x9e3779b97f4a7c15ULL) >> 32 & (PLANNED_KNOWN - 1)];
}

/*
 * True when the decision about the next call depends only on the function that is called. If the
 * plan has PLAN_STEERABLE, the recorder clears probe_skips to announce a new plan or the end of the
 * recording. The result is then false.
 */
static inline bool planned_is_simple(const struct thread *t)
{
	const struct planned *p = t->planned;

	return p->is_simple && p->now.out == 0 && probe_is_recording() && probe_skips;
}

/* True when there is room for a record and for the payload of a capture program. */
static inline bool planned_has_room(const struct thread *t, const struct capture_step *capture)
{
	uint64_t bytes = sizeof(struct record) + (capture ? CAPTURE_ROOM : 0);

	return likely((uint64_t)(t->end - t->at) >= bytes);
}

/* With these flags, a rule opts a call in, or sets limits for the call and the calls within it. */
#define PLANNED_FAST_RULES ((uint32_t)(PLAN_FILTER | PLAN_DEPTH | PLAN_TIME | PLAN_SIZE))

/* The actions that a rule's conditions decide about. */
#define PLANNED_CONDITIONAL ((uint32_t)(PLAN_FILTER | PLAN_NOTRACE))

/* Updates @s for a call whose rule has PLAN_FILTER, which opts the call in. */
static inline void planned_opt_in(const struct planned *p, struct selection *s)
{
	s->in++;
	s->depth = p->depth;
}

/*
 * True when an open thread (planned_pass.h) records calls of @func as if @func had no rule. @func
 * may be NULL. If PLAN_FILTER is the only flag of a rule, this rule makes no difference in an open
 * thread, unless planned.depth_counts is true.
 */
static inline bool planned_is_alike(const struct planned *p, const struct live_func *func)
{
	return !func || !func->rule || (func->rule->flags == PLAN_FILTER && !p->depth_counts);
}

/*
 * True when planned_is_alike() is true, and calls of @func have no values to capture. In this case,
 * a hook handles a thread's first call of @func. The entry stubs (arch/<isa>/fast_stubs.S) can
 * record the thread's later calls of @func without the hook.
 */
static inline bool planned_may_pass(const struct planned *p, const struct live_func *func)
{
	return planned_is_alike(p, func) && !(func && (func->args || func->result));
}

/*
 * Puts the limits of @rule into @s. The limits apply to a call of the function with @rule, and to
 * all calls within this call.
 */
static inline void planned_limit(struct selection *s, const struct plan_rule *rule)
{
	if (likely(!(rule->flags & (PLAN_DEPTH | PLAN_TIME | PLAN_SIZE))))
		return;
	if (rule->flags & PLAN_DEPTH)
		s->depth = rule->depth;
	if (rule->flags & PLAN_TIME)
		s->threshold_ns = rule->time_ns;
	if (rule->flags & PLAN_SIZE)
		s->size = rule->size;
}

/*
 * Pushes the frame to which @pf belongs. Copies planned.now to pf->before. When the call ends,
 * planned.now is restored from pf->before.
 *
 * The push comes before any change of planned.now. A signal handler may call longjmp() at any time.
 * If planned.now were changed before the push, and longjmp() were called between the two steps, no
 * frame could restore planned.now.
 */
static inline void planned_push(struct thread *t, struct planned_frame *pf, uint64_t slot,
				uint64_t ret, uint64_t data, uint64_t now_ns,
				const struct capture_step *result, uint16_t flags)
{
	struct planned *p = t->planned;
	struct frame *f = t->top + 1;

	f->slot = slot;
	f->ret = ret;
	f->data = data;
	f->time_ns = now_ns;
	/*
	 * The members are stored one by one. For a struct literal the compiler would clear the
	 * whole struct first. The instruction for this costs more than all the stores below.
	 */
	pf->before = p->now;
	pf->result = result;
	pf->flags = flags;
	pf->args_len = 0;
	pf->args_at = p->args_top;
	guard_barrier();
	t->top = f;
	guard_barrier();
}

/* Returns the struct planned_frame of the frame that would be opened next. */
static inline struct planned_frame *planned_next_frame(const struct thread *t)
{
	return planned_frame_of(t, t->top) + 1;
}

/*
 * True when a call with @rule is not left out. If -L chooses source files, the called function must
 * be in one of these files. The files of the callers do not matter.
 */
static inline bool planned_is_placed(const struct planned *p, const struct plan_rule *rule)
{
	uint32_t flags = rule ? rule->flags : 0;

	return !(flags & PLAN_LOCATION_OUT) && (!p->has_location || (flags & PLAN_LOCATION)) &&
	       flags != PLAN_LEFT_OUT;
}

/* The decision about a call. */
enum planned_verdict {
	/* a filter, or the rule of the called function, excludes the call from the recording */
	PLANNED_KEPT_OUT,
	/* the filters let the call in, but the call is too deep, or the function is too small */
	PLANNED_LET_IN,
	/* the call is recorded */
	PLANNED_IS_RECORD,
};

/*
 * HOT: decides about a call of @func (NULL: not in the plan), with @rule (NULL: none).
 *
 * @s: the selection around the call; becomes the selection inside of the call
 * @flags: the rule's flags, without those whose conditions are false
 * @is_simple: true when the caller knows that @rule has only PLANNED_FAST_RULES, and that
 *             planned.has_location is false. planned_is_placed() is then not called. Each caller
 *             passes a constant
 */
static inline enum planned_verdict planned_judge(const struct planned *p, struct selection *s,
						 const struct live_func *func,
						 const struct plan_rule *rule, uint32_t flags,
						 bool is_simple)
{
	if (flags & PLAN_FILTER)
		planned_opt_in(p, s);
	s->out += (flags & PLAN_NOTRACE) != 0;
	if ((flags & PLAN_NOTRACE) || (p->has_filter && s->in == 0) ||
	    (!is_simple && !planned_is_placed(p, rule)))
		return PLANNED_KEPT_OUT;
	if (rule)
		planned_limit(s, rule);
	if (s->depth == 0 || (func && func->end - func->start < s->size))
		return PLANNED_LET_IN;
	s->depth--;
	s->level++;
	return PLANNED_IS_RECORD;
}

/* Returns the address of a return slot: frame.slot without the flag FRAME_EXPLICIT. */
static inline const uint64_t *planned_slot(uint64_t slot)
{
	return (const uint64_t *)(slot & ~(uint64_t)FRAME_EXPLICIT);
}

/*
 * Writes the ENTRY of a call. If @args is not NULL, captures the arguments with the steps @args,
 * and writes the arguments after the ENTRY. The caller has made sure that there is room.
 */
static inline void planned_put_quick_entry(struct thread *t, uint64_t slot, uint64_t data,
					   uint64_t now_ns, const struct capture_step *args,
					   const struct arch_regs *regs)
{
	uint32_t len = 0;

	if (args)
		len = capture_args_quick(args, regs, planned_slot(slot),
					 (uint8_t *)t->at + sizeof(struct record));
	hot_commit(t, put_record(t->at, now_ns, data | (len ? RECORD_MORE : 0)) + len);
}

/*
 * Writes the EXIT of @f. The caller has made sure that there is room.
 *
 * If @result is not NULL, captures the return value with the steps @result, and then clears
 * pf->result. Until pf->result is cleared, this frame needs the plan that contains @result, and the
 * plan is not freed (planned_needs()).
 *
 * @pf: the struct planned_frame of @f
 */
static inline void planned_put_quick_exit(struct thread *t, const struct frame *f,
					  struct planned_frame *pf, uint64_t now_ns,
					  const struct capture_step *result,
					  const struct arch_regs *regs)
{
	uint64_t data = f->data | RECORD_EXIT;
	uint32_t len = 0;

	if (result) {
		len = capture_retval_quick(result, regs, (uint8_t *)t->at + sizeof(struct record));
		__atomic_store_n(&pf->result, NULL, __ATOMIC_RELEASE);
	}
	hot_commit(t, put_record(t->at, now_ns, data | (len ? RECORD_MORE : 0)) + len);
}

/* Opts a call, and all calls inside of that call, out of the recording. */
static inline void planned_fast_opt_out(struct thread *t, uint64_t slot, uint64_t ret,
					uint64_t addr)
{
	struct planned *p = t->planned;

	planned_push(t, planned_next_frame(t), slot, ret,
		     record_data(RECORD_ENTRY, p->now.level, addr), 0, NULL, 0);
	p->now.out++;
	state_follow(t, p, THREAD_JUDGED, CALL_OPT_OUT);
}

/*
 * Enters a call under the plan that the thread knows. Returns false in an uncommon case, in which
 * the caller takes the slow path.
 *
 * @slot, @ret: of the new frame
 * @regs: NULL when there are no registers to capture from (-finstrument-functions)
 */
static inline bool planned_fast_enter_known(struct thread *t, uint64_t slot, uint64_t ret,
					    uint64_t addr, const struct arch_regs *regs)
{
	struct planned *p = t->planned;
	const struct planned_known *known = planned_known_of(p, addr);
	const struct live_func *func = known->func;
	const struct plan_rule *rule = NULL;
	const struct capture_step *args = NULL;
	const struct capture_step *result = NULL;
	struct selection next = p->now;
	uint64_t now_ns;

	if (!planned_is_simple(t) || known->addr != addr || t->top >= t->limit)
		return false;
	if (func) {
		rule = func->rule;
		if (rule && rule->flags == PLAN_NOTRACE) {
			planned_fast_opt_out(t, slot, ret, addr);
			return true;
		}
		if (rule && (rule->flags & ~PLANNED_FAST_RULES))
			return false;
		if (rule && rule->flags == PLAN_FILTER && !func->args && !func->result)
			p->has_opted_in = true;
		if (regs) {
			args = func->args;
			result = func->result;
		}
		/*
		 * Take the slow path. Before the slow path captures arguments, planned_prepare()
		 * calls fault_look(), which sets fault_state.
		 */
		if ((args || result) && unlikely(fault_state == FAULT_UNKNOWN))
			return false;
	}
	if (planned_judge(p, &next, func, rule, rule ? rule->flags & PLAN_FILTER : 0, true) !=
	    PLANNED_IS_RECORD)
		return false;

	struct planned_frame *pf = planned_next_frame(t);
	bool is_held_back = next.threshold_ns != 0 || p->has_caller;

	if (is_held_back ? args && p->args_bytes - p->args_top < CAPTURE_ROOM
			 : !(pf[-1].flags & PLANNED_WRITTEN) || !planned_has_room(t, args))
		return false;
	if (unlikely(!fast_clock(t, &now_ns)))
		return false;

	uint64_t data = record_data(RECORD_ENTRY, p->now.level, addr);

	t->last_ns = now_ns;
	planned_push(t, pf, slot, ret, data, now_ns, result,
		     is_held_back ? PLANNED_RECORD : PLANNED_RECORD | PLANNED_WRITTEN);
	p->now.threshold_ns = next.threshold_ns;
	p->now.size = next.size;
	p->now.depth = next.depth;
	p->now.level++;
	p->now.in = next.in;
	/*
	 * Before the new call, the thread's state was OUTSIDE or JUDGED. In the new call, the state
	 * is JUDGED.
	 */
	state_follow(t, p, THREAD_OUTSIDE, CALL_OPT_IN);
	if (is_held_back) {
		if (args) {
			pf->args_len = capture_args_quick(args, regs, planned_slot(slot),
							  p->args + p->args_top);
			p->args_top += pf->args_len;
		}
		return true;
	}

	planned_put_quick_entry(t, slot, data, now_ns, args, regs);
	if (planned_may_pass(p, func))
		planned_note_pass(p, addr);
	/*
	 * Calls of functions for which planned_is_alike() is true are frequent. At the beginning of
	 * such a call, the thread becomes THREAD_OPEN, if possible.
	 */
	if (planned_is_alike(p, func))
		planned_open(t, pf);
	return true;
}

/* Ends a call, and undoes what its rule has changed. */
static inline void planned_drop(struct thread *t, const struct planned_frame *pf)
{
	struct planned *p = t->planned;

	p->now = pf->before;
	p->args_top = pf->args_at;
	state_select(t);
	guard_barrier();
	t->top--;
}

/* HOT: ends a call whose ENTRY was held back. Most such calls are dropped. */
static inline bool planned_fast_leave_held(struct thread *t, const struct frame *f,
					   const struct planned_frame *pf)
{
	struct planned *p = t->planned;
	uint64_t now_ns;

	/*
	 * With -C, the probe writes the ENTRYs of all open calls when it records a call of a
	 * function that -C names. The ENTRY of @f is still held back. So the call of @f contains no
	 * recorded call of such a function. The call of @f is dropped, regardless of its duration.
	 */
	if (!p->has_caller) {
		if (unlikely(!fast_clock(t, &now_ns)) || now_ns - f->time_ns > p->now.threshold_ns)
			return false;
		t->last_ns = now_ns;
	}
	planned_drop(t, pf);
	return true;
}

static inline bool planned_fast_leave(struct thread *t, const struct arch_regs *regs)
{
	struct planned *p = t->planned;
	struct frame *f = t->top;
	struct planned_frame *pf = planned_frame_of(t, f);
	const struct capture_step *result = regs ? pf->result : NULL;
	uint64_t now_ns;

	if (pf->flags == 0) {
		planned_drop(t, pf);
		planned_open(t, pf - 1);
		return true;
	}
	if (!p->is_simple || !probe_is_recording())
		return false;
	if (pf->flags == PLANNED_RECORD)
		return planned_fast_leave_held(t, f, pf);
	if (pf->flags != (PLANNED_RECORD | PLANNED_WRITTEN) || !planned_has_room(t, result) ||
	    unlikely(!fast_clock(t, &now_ns)))
		return false;
	t->last_ns = now_ns;
	planned_drop(t, pf);
	planned_put_quick_exit(t, f, pf, now_ns, result, regs);
	planned_open(t, pf - 1);
	return true;
}

#endif
