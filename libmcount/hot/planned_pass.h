/*
 * Calls that a plan does not treat specially. With `-F main`, or with `-N` of a single function,
 * these are most calls.
 */
#ifndef UTRAIL_LIBMCOUNT_PLANNED_PASS_H
#define UTRAIL_LIBMCOUNT_PLANNED_PASS_H

#include "libmcount/hot/fast.h"
#include "libmcount/hot/planned.h"
#include "libmcount/hot/state.h"

/*
 * This comment explains the states THREAD_OPEN, THREAD_READY and THREAD_BARRED (state.h). A call is
 * opted in if its function has PLAN_FILTER. A call is opted out if its function has PLAN_NOTRACE. A
 * call is unfinished until the call returns.
 *
 * In an open thread (THREAD_OPEN), a call of a function without a rule is recorded as if there were
 * no plan. In this state, thread->calls is planned.pass, and the fast paths push and pop frames as
 * without a plan. The fast paths work only while probe_skips is true. To announce a new plan, the
 * recorder clears probe_skips (plan_update.h).
 *
 * A thread can be open only while all of these conditions hold:
 *
 * - No unfinished call is opted out.
 * - No ENTRY is held back. With -t, time= or -C, the probe holds back ENTRYs until it knows if the
 *   calls will be recorded.
 * - If the plan has PLAN_OPT_IN_FILTER, at least one unfinished call is opted in.
 *
 * When a fast path pushes a frame, the frame has no struct planned_frame. planned.open_base is the
 * innermost frame with such a struct. By counting the frames above planned.open_base, the probe can
 * compute the missing structs of these frames. planned.now is the filter state (struct selection)
 * inside of the call whose frame is planned.open_base. Before other code uses the frames without
 * structs, planned_settle() makes the structs. The thread is then settled, and no longer open. Each
 * of these frames then ends on the slow path. Therefore the code for common cases must not settle a
 * thread.
 *
 * The following calls do not settle an open thread:
 *
 * - A call whose values are captured by planned_fast_capture(). For the called function,
 *   planned_is_alike() must be true. If the return value is captured, the frame of the call has a
 *   struct open_frame, and thread->fast_base is this frame. The fast paths never end the frame
 *   thread->fast_base. Therefore planned_leave_open() handles the return.
 * - A call of a function whose rule only opts out. The call has a frame whose time is OPEN_OUT.
 *   Until this call ends, the thread is barred: no call within this call is recorded.
 * - A call that is deeper than the limit of depth. With -finstrument-functions the call has a
 *   frame whose time is OPEN_TOO_DEEP.
 *
 * While no unfinished call is opted in, a thread may be ready. At the next call of a function whose
 * rule only opts in, the thread becomes open. A ready thread is prepared like an open thread, but
 * thread->calls is planned.skip_outside, and planned.now.in is 0. To open the thread, the hook
 * first pushes the frame thread->admitted for the call. Then the hook changes thread->calls and
 * planned.now.in. If a signal handler leaves the hook by longjmp() before this change, the thread
 * keeps the frame and stays ready.
 */
#define OPEN_OUT      0
#define OPEN_TOO_DEEP 1

static inline bool planned_is_open(const struct thread *t)
{
	return t->planned && t->calls == t->planned->pass;
}

/* The number of recorded calls from planned.open_base to the innermost frame. */
static inline uint32_t planned_open_calls(const struct thread *t)
{
	const struct planned *p = t->planned;
	const struct frame *f = t->top;

	if (!p || !p->open_base)
		return 0;
	while (f > p->open_base && f->time_ns <= OPEN_TOO_DEEP)
		f--;
	return f - p->open_base;
}

static inline void planned_settle(struct thread *t)
{
	if (t->planned && t->planned->open_base)
		planned_close(t);
}

/*
 * True when thread->calls is planned.skip_out (an unfinished call is opted out), or
 * planned.skip_outside (no unfinished call is opted in).
 */
static inline bool planned_skips(const struct thread *t)
{
	const struct planned *p = t->planned;

	return p && (t->calls == p->skip_outside || t->calls == p->skip_out);
}

/*
 * True when @t is open, and the table thread->calls has @addr. The fast paths record a call of
 * @addr only if planned_passes() is true.
 */
static inline bool planned_knows(const struct thread *t, uint64_t addr)
{
	return t->calls[planned_place_of(addr)].call == addr;
}

/* True when the fast paths are allowed to record a call of @addr. */
static inline bool planned_passes(const struct thread *t, uint64_t addr)
{
	return planned_knows(t, addr) && probe_is_recording() && probe_skips;
}

/* True when a call of @addr gets no frame and no record. The entry stubs make the same test. */
static inline bool planned_leaves_out(const struct thread *t, uint64_t addr)
{
	return t->calls[planned_place_of(addr)].alone == addr && probe_skips;
}

/*
 * Stores @entry in @word, which is in a table that the stubs read. Then checks whether the plan was
 * replaced. plans.c first stores a new plan, and then empties the tables. So @entry does not stay
 * under a new plan: either this thread sees the new plan and removes @entry, or plans.c removes
 * @entry.
 */
static inline void planned_note(struct planned *p, uint64_t *word, uint64_t entry)
{
	if (*word == entry)
		return;
	p->has_noted = true;
	__atomic_store_n(word, entry, __ATOMIC_SEQ_CST);
	if (p->plan != __atomic_load_n(&probe.live, __ATOMIC_SEQ_CST))
		__atomic_store_n(word, 0, __ATOMIC_RELAXED);
}

static inline void planned_note_pass(struct planned *p, uint64_t addr)
{
	planned_note(p, &p->pass[planned_place_of(addr)].call, addr);
}

/*
 * Called after a call has begun or ended. If @t meets the conditions of THREAD_OPEN or of
 * THREAD_READY, this function changes the state of @t to that state.
 *
 * @pf: belongs to the frame t->top
 */
static inline void planned_open(struct thread *t, const struct planned_frame *pf)
{
	struct planned *p = t->planned;
	struct selection *now = &p->now;
	bool is_outside = p->has_filter && !now->in;

	/*
	 * If the innermost call has FRAME_KEPT, the next call must first check whether the
	 * innermost call has returned.
	 */
	if ((int64_t)t->top->ret < 0)
		return;
	if ((is_outside && !p->has_opted_in) || now->out || !p->is_simple || p->has_caller ||
	    now->threshold_ns || now->size || now->level > RECORD_DEPTH_MAX)
		return;
	/*
	 * The fast paths copy the depth of the innermost call, and add 1 for a new call. So the
	 * innermost call, if any, must have an ENTRY. The depth of this ENTRY must be one less than
	 * now->level.
	 */
	if ((t->top > t->frames && pf->flags != (PLANNED_RECORD | PLANNED_WRITTEN)) ||
	    ((record_depth(t->top->data) + 1) & RECORD_DEPTH_MAX) != now->level)
		return;
	/*
	 * With PLAN_OPT_IN_FILTER, now->depth has a meaning only inside of calls that are opted in.
	 * Outside of such calls, store the limit for the next such call: the plan's limit of depth.
	 */
	if (is_outside)
		now->depth = p->depth;
	p->is_ready = is_outside;
	guard_barrier();
	p->open_base = t->top;
	guard_barrier();
	if (is_outside)
		state_follow(t, p, THREAD_OUTSIDE, STATE_FITS);
	else
		state_follow(t, p, THREAD_JUDGED, STATE_FITS);
}

/*
 * True when @t is in the state THREAD_READY, and thread->calls shows that a call of @addr changes
 * the state to THREAD_OPEN.
 */
static inline bool planned_admits(const struct thread *t, uint64_t addr)
{
	return t->calls[planned_place_of(addr)].call == -addr && probe_is_recording() &&
	       probe_skips;
}

/*
 * Call planned_admit() after the frame thread->admitted was pushed. Call planned_admit_over()
 * before this frame is popped.
 */
static inline void planned_admit(struct thread *t)
{
	struct planned *p = t->planned;

	guard_barrier();
	p->now.in = 1;
	state_follow(t, p, THREAD_READY, CALL_OPT_IN);
}

static inline void planned_admit_over(struct thread *t)
{
	struct planned *p = t->planned;

	p->now.in = 0;
	state_follow(t, p, THREAD_OPEN, RETURN_OPT_IN);
	guard_barrier();
}

/*
 * Pushes the frame of a call that changes the thread's state from THREAD_READY to THREAD_OPEN. No
 * values of the call are captured.
 */
static inline bool planned_push_admitted(struct thread *t, uint64_t slot, uint64_t ret,
					 uint64_t addr)
{
	if (!fast_push_alike(t, slot, ret, addr))
		return false;
	planned_admit(t);
	return true;
}

/*
 * Pushes a frame without a record, in the state THREAD_OPEN. A signal handler may leave this
 * function by longjmp() at any point. So state_keep_back() comes before the push. Otherwise, the
 * fast paths could write an EXIT for the frame.
 */
static inline void planned_push_open(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr,
				     uint64_t kind)
{
	struct frame *f = t->top + 1;

	f->slot = slot;
	f->ret = ret;
	f->data = record_data(RECORD_ENTRY, 0, addr);
	f->time_ns = kind;
	state_keep_back(t, f);
	t->top = f;
}

/*
 * In the state THREAD_OPEN, pushes a frame for a call that is deeper than the limit of depth. The
 * frame only shows where the call ends. Returns false when the call is not deeper, or no frame is
 * left.
 */
static inline bool planned_push_too_deep(struct thread *t, uint64_t slot, uint64_t ret,
					 uint64_t addr)
{
	if (t->top < t->drop_limit || t->top >= t->limit)
		return false;
	planned_push_open(t, slot, ret, addr, OPEN_TOO_DEEP);
	return true;
}

#endif
