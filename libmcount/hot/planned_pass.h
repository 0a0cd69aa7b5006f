/*
 * Calls under a plan that asks nothing of them: most calls of `-F main`, or of `-N` of something
 * else.
 */
#ifndef UTRAIL_LIBMCOUNT_PLANNED_PASS_H
#define UTRAIL_LIBMCOUNT_PLANNED_PASS_H

#include "libmcount/hot/fast.h"
#include "libmcount/hot/planned.h"
#include "libmcount/hot/state.h"

/*
 * While something is opted in, nothing is opted out and no ENTRY is held back, a function without a
 * rule is recorded as if there were no plan. Then the thread is open. The fast paths may push and
 * pop frames as they do without a plan, of functions that planned.pass knows, which is
 * thread->calls then. Such calls look for no news of the recorder (steer.h), but at probe_skips, as
 * those do that the stubs leave alone.
 *
 * Such a frame has no struct planned_frame. All that would stand there follows from the number of
 * such frames: each is one level deeper than that around it. planned.now holds inside of
 * planned.open_base, the innermost frame that is not one of them. Before anybody else looks,
 * planned_settle() makes them what others are, and the thread is not open any more. Settling costs
 * each of their returns the long way, so nothing that is common does it. C code does without it
 * what the stubs do not do themselves: a call by a jump, a full segment, a new fit of the clock, a
 * function that is not in the table.
 *
 * A thread stays open in a function of which values are captured and nothing else is said:
 * planned_fast_capture() pushes its frame as the fast paths would. If it is the return value, the
 * frame has a struct open_frame, and is thread->fast_base, so that its return comes to
 * planned_leave_open().
 *
 * A thread stays open at a call of a function whose rule opts it out and says no more. The call
 * gets a frame whose time is OPEN_OUT, and the thread is barred until that is over. No frame comes
 * above it. A thread stays open at a call that is too deep, too, which needs no frame. If returns
 * are announced (-finstrument-functions), the call has one, whose time is OPEN_TOO_DEEP, so that
 * its return is known.
 *
 * While nothing is opted in, the thread may be ready for a call that is, by a rule that says no
 * more. All is then prepared as for a thread that is open, but thread->calls is
 * planned.skip_outside and planned.now.in is 0. Such a call gets the frame thread->admitted, and
 * these two are all that changes, until its end. A handler that jumps out for good may leave the
 * frame there without the change, but not the change without the frame.
 */
#define OPEN_OUT      0
#define OPEN_TOO_DEEP 1

static inline bool planned_is_open(const struct thread *t)
{
	return t->planned && t->calls == t->planned->pass;
}

/* The number of recorded calls by which the innermost frame is deeper than planned.now. */
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
 * True when thread->calls is a table of calls that are left alone, as nothing but their rules
 * counts.
 */
static inline bool planned_skips(const struct thread *t)
{
	const struct planned *p = t->planned;

	return p && (t->calls == p->skip_outside || t->calls == p->skip_out);
}

/*
 * True when @t is open, and @addr has no rule: the fast paths record its calls, unless nothing is
 * recorded at present, or there are news.
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

/* True when a call of @addr is to be left alone, as the entry stubs find, too. */
static inline bool planned_leaves_out(const struct thread *t, uint64_t addr)
{
	return t->calls[planned_place_of(addr)].alone == addr && probe_skips;
}

/*
 * It may from now on, if the plan is still the one that says so: the thread that replaces it
 * empties the tables afterwards (plans.c), so that one of both sees what the other has done. @word,
 * @entry: of a struct planned_place
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
 * A call has begun or ended, and @t is not open: it is from now on, or ready to be, if it can be.
 * @pf: of the innermost frame
 */
static inline void planned_open(struct thread *t, const struct planned_frame *pf)
{
	struct planned *p = t->planned;
	struct selection *now = &p->now;
	bool is_outside = p->has_filter && !now->in;

	/* The next call asks whether that one has returned. */
	if ((int64_t)t->top->ret < 0)
		return;
	if ((is_outside && !p->has_opted_in) || now->out || !p->is_simple || p->has_caller ||
	    now->threshold_ns || now->size || now->level > RECORD_DEPTH_MAX)
		return;
	/* The fast paths count from the depth of the innermost record. */
	if ((t->top > t->frames && pf->flags != (PLANNED_RECORD | PLANNED_WRITTEN)) ||
	    ((record_depth(t->top->data) + 1) & RECORD_DEPTH_MAX) != now->level)
		return;
	/* The depth counts from the opted-in call; it means nothing before. */
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
 * True when a call of @addr is one of a function that is opted in, by which a thread that is ready
 * becomes open.
 */
static inline bool planned_admits(const struct thread *t, uint64_t addr)
{
	return t->calls[planned_place_of(addr)].call == -addr && probe_is_recording() &&
	       probe_skips;
}

/* The frame thread->admitted was pushed; and is about to be popped. */
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

/* Such a call; it has no arguments to be captured. */
static inline bool planned_push_admitted(struct thread *t, uint64_t slot, uint64_t ret,
					 uint64_t addr)
{
	if (!fast_push_alike(t, slot, ret, addr))
		return false;
	planned_admit(t);
	return true;
}

/*
 * A frame without a record, of a thread that is open. A handler may jump out for good anywhere in
 * this, and in what follows.
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

/* The thread is open, and barred after this: @addr is opted out. */
static inline void planned_bar(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr)
{
	struct planned *p = t->planned;

	planned_push_open(t, slot, ret, addr, OPEN_OUT);
	guard_barrier();
	p->now.out = 1;
	state_follow(t, p, THREAD_OPEN, CALL_OPT_OUT);
}

/*
 * A call of a function that may pass, of a thread that is open, but it is too deep, and is not
 * recorded: it gets a frame that only says where it ends. False: it is not too deep, or the frames
 * are used up.
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
