/* Handles calls and returns in the common case. This code calls only inline functions. */
#ifndef UTRAIL_LIBMCOUNT_FAST_H
#define UTRAIL_LIBMCOUNT_FAST_H

#include "libmcount/hot/hot.h"
#include "libmcount/hot/planned.h"

/*
 * HOT. The functions of this file push or pop a frame completely. In an uncommon case they change
 * nothing, and the caller takes the slow path (guard.h, frames.h) by a tail call. A hook that makes
 * only tail calls needs no prologue. A hook without a prologue saves an eighth of the cost of a
 * call.
 */

/*
 * Sets the guard of this thread's state and returns the state. Returns NULL when the thread has no
 * state yet, is not traced, or is inside of a hook.
 */
static inline struct thread *fast_guard(void)
{
	struct thread *t = self;

	if (unlikely(!t) || unlikely(t->busy))
		return NULL;
	guard_take(t);
	return t;
}

/*
 * Does the work of hot_clock(), but does not store last_ns. Returns false when the CPU's counter
 * is not fitted to the kernel's clock (clock_refit()), or when the fit is too old.
 */
static inline bool fast_clock(const struct thread *t, uint64_t *now_ns)
{
	uint64_t ticks = arch_counter_read() - t->base_counter;
	uint64_t ns = t->base_ns + (ticks * t->mult >> 32);

	*now_ns = ns < t->last_ns ? t->last_ns : ns;
	return likely(ticks < t->refit_ticks);
}

static inline bool fast_has_room(const struct thread *t)
{
	return likely((uint64_t)(t->end - t->at) >= sizeof(struct record));
}

/* The depth of a call that is nested directly in the call of @f, as bits of a data word. */
static inline uint64_t fast_depth_inside(const struct frame *f)
{
	return (f->data + (1 << RECORD_DEPTH_SHIFT)) & (RECORD_DEPTH_MAX << RECORD_DEPTH_SHIFT);
}

/*
 * Pushes a frame. Unless @is_held, writes the ENTRY of the frame. The caller has made sure that
 * there is room for the frame and for this ENTRY.
 */
static inline void fast_put_frame(struct thread *t, uint64_t slot, uint64_t ret, uint64_t data,
				  uint64_t now_ns, bool is_held)
{
	struct frame *f = t->top + 1;

	t->last_ns = now_ns;
	f->slot = slot;
	f->ret = ret;
	f->data = data;
	f->time_ns = now_ns;
	/*
	 * A signal handler may read the frames at any time. So all members of @f are stored before
	 * t->top changes.
	 */
	guard_barrier();
	t->top = f;
	if (is_held)
		return;
	t->written = f;
	hot_commit(t, put_record(t->at, now_ns, data));
}

/* Pops the innermost frame, and writes the EXIT of that frame. */
static inline void fast_put_exit(struct thread *t, uint64_t now_ns)
{
	struct frame *f = t->top;

	t->last_ns = now_ns;
	t->top = f - 1;
	t->written = f - 1;
	hot_commit(t, put_record(t->at, now_ns, f->data | RECORD_EXIT));
}

/*
 * Pushes a frame as the stubs' fast paths do (arch/<isa>/fast_stubs.S). This function serves hooks
 * that have no stub with a fast path, and calls that the fast paths do not handle.
 */
static inline bool fast_push_alike(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr)
{
	struct frame *top = t->top;
	uint64_t data = record_data(RECORD_ENTRY, 0, addr) | fast_depth_inside(top);
	uint64_t now_ns;

	if (unlikely(top >= t->fast_limit) || unlikely(!fast_has_room(t)) ||
	    unlikely(!fast_clock(t, &now_ns)))
		return false;
	fast_put_frame(t, slot, ret, data, now_ns, false);
	return true;
}

/* Pops a frame as the stubs' fast paths do. */
static inline bool fast_pop_alike(struct thread *t)
{
	uint64_t now_ns;

	if (t->top <= t->fast_base || unlikely(!probe.is_on) || unlikely(!fast_has_room(t)) ||
	    unlikely(!fast_clock(t, &now_ns)))
		return false;
	fast_put_exit(t, now_ns);
	return true;
}

/*
 * Does the work of frame_push() while all calls are recorded alike (probe.plain). Returns false
 * when probe.plain is not set, and in uncommon cases, for example when there is no room for the
 * frame or its ENTRY.
 */
static inline bool fast_push(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr)
{
	struct frame *top = t->top;
	uint64_t data = record_data(RECORD_ENTRY, top - t->frames, addr);
	bool is_held_back = t->threshold_ns != 0;
	uint64_t now_ns;

	if (unlikely(!probe.plain) || unlikely(top >= t->limit) ||
	    (!is_held_back && unlikely(!fast_has_room(t))) || unlikely(!fast_clock(t, &now_ns)))
		return false;
	fast_put_frame(t, slot, ret, data, now_ns, is_held_back);
	return true;
}

/*
 * Does the work of frames_leave_top() for a frame whose ENTRY is written, or whose call was too
 * short to be kept.
 */
static inline bool fast_pop(struct thread *t)
{
	struct frame *f = t->top;
	bool is_held_back = f > t->written;
	uint64_t now_ns;

	/*
	 * With t->planned, this function leaves the work to the caller. The test comes before
	 * fast_clock(), because a reading of the clock takes a quarter of the cost of a call.
	 */
	if (unlikely(t->planned))
		return false;
	if (unlikely(!fast_clock(t, &now_ns)))
		return false;
	if (is_held_back) {
		if (unlikely(now_ns - f->time_ns > t->threshold_ns))
			return false;
		t->last_ns = now_ns;
		t->top = f - 1;
		return true;
	}
	if (unlikely(!fast_has_room(t)))
		return false;
	fast_put_exit(t, now_ns);
	return true;
}

#endif
