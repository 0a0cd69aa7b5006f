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
 * A thread can be open while no open call is opted out and no ENTRY is held back. If the plan opts
 * functions in, a thread can be open only within a call that is opted in. In an open thread, a
 * function without a rule is recorded as if there were no plan: thread->calls is planned.pass, and
 * the fast paths push and pop frames as without a plan. The fast paths test probe_skips, which is
 * false while the recorder has news (plan_update.h).
 *
 * A frame of a fast path has no struct planned_frame. planned.open_base is the innermost frame with
 * such a struct. By counting the frames above planned.open_base, the probe can compute the missing
 * structs of these frames. planned.now is the selection inside of planned.open_base. Before other
 * code uses the frames without structs, planned_settle() completes them, and the thread is not open
 * any more. Each return of a completed frame takes the slow path. Therefore the code for common
 * cases must not settle a thread.
 *
 * An open thread stays open at these calls:
 *
 * - A call whose values are captured, if planned_is_alike() is true for the called function
 *   (planned_fast_capture()). If the return value is captured, the frame of the call has a struct
 *   open_frame and is thread->fast_base. Therefore planned_leave_open() handles the return.
 * - A call of a function with a rule that only opts out. The call has a frame whose time is
 *   OPEN_OUT, and the thread is barred until that call ends.
 * - A call that is too deep. With -finstrument-functions the call has a frame whose time is
 *   OPEN_TOO_DEEP.
 *
 * While no open call is opted in, a thread may be ready: the next call of a function with a rule
 * that only opts in opens the thread. Everything is prepared as for an open thread, but
 * thread->calls is planned.skip_outside, and planned.now.in is 0. The call that opens the thread
 * gets the frame thread->admitted, before thread->calls and planned.now.in change. If a signal
 * handler leaves the hook by longjmp() before these two members change, the frame remains, and the
 * thread stays ready.
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
 * True when thread->calls is a table of calls that are left alone, because an open call is opted
 * out, or because no open call is opted in.
 */
static inline bool planned_skips(const struct thread *t)
{
	const struct planned *p = t->planned;

	return p && (t->calls == p->skip_outside || t->calls == p->skip_out);
}

/*
 * True when @t is open, and its table has @addr. The fast paths record calls of @addr if, in
 * addition, recording is on and the recorder has no news.
 */
static inline bool planned_knows(const struct thread *t, uint64_t addr)
{
	return t->calls[planned_place_of(addr)].call == addr;
}

/* True when the fast paths may record a call of @addr. */
static inline bool planned_passes(const struct thread *t, uint64_t addr)
{
	return planned_knows(t, addr) && probe_is_recording() && probe_skips;
}

/* True when a call of @addr is to be left alone. The entry stubs make the same test. */
static inline bool planned_leaves_out(const struct thread *t, uint64_t addr)
{
	return t->calls[planned_place_of(addr)].alone == addr && probe_skips;
}

/*
 * Stores @entry in @word of a table for the stub, and then checks whether the plan was replaced.
 * plans.c stores a new plan before it empties the tables. So @entry does not stay under a new plan:
 * either this thread sees the new plan and removes @entry, or plans.c removes @entry.
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
 * Makes @t open or ready, if possible, after a call has begun or ended.
 *
 * @pf: belongs to the innermost frame
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
	 * The fast paths count from the depth of the innermost record. So the innermost call, if
	 * any, must have an ENTRY. The depth of this ENTRY must be one less than now->level.
	 */
	if ((t->top > t->frames && pf->flags != (PLANNED_RECORD | PLANNED_WRITTEN)) ||
	    ((record_depth(t->top->data) + 1) & RECORD_DEPTH_MAX) != now->level)
		return;
	/* The depth counts from the opted-in call. It has no meaning outside of that call. */
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

/* True when a call of @addr is opted in, so that it opens the ready thread @t. */
static inline bool planned_admits(const struct thread *t, uint64_t addr)
{
	return t->calls[planned_place_of(addr)].call == -addr && probe_is_recording() &&
	       probe_skips;
}

/*
 * planned_admit() is called after the frame thread->admitted was pushed, planned_admit_over()
 * before that frame is popped.
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

/* Pushes the frame of a call that opens the thread. No values of the call are captured. */
static inline bool planned_push_admitted(struct thread *t, uint64_t slot, uint64_t ret,
					 uint64_t addr)
{
	if (!fast_push_alike(t, slot, ret, addr))
		return false;
	planned_admit(t);
	return true;
}

/*
 * In an open thread, pushes a frame without a record. A signal handler may leave this function by
 * longjmp() at any point, so state_keep_back() comes before the push.
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
 * In an open thread, pushes a frame for a call that is too deep. The frame only shows where the
 * call ends. Returns false when the call is not too deep, or no frame is left.
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
