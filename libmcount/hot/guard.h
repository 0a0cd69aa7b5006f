/* The code that all entry hooks share: the per-thread guard and the push of a frame. */
#ifndef UTRAIL_LIBMCOUNT_GUARD_H
#define UTRAIL_LIBMCOUNT_GUARD_H

#include "libmcount/hot/fast.h"
#include "libmcount/hot/hot.h"

/*
 * HOT, rarely. Called for a call inside of a hook of @t, usually a call of a signal handler that
 * has interrupted the hook. Sets the guard of the aside of @t and returns the aside, or NULL when
 * the call is not recorded.
 */
struct thread *aside_enter(struct thread *t);

/*
 * HOT, rarely. Called at the end of a hook that a signal handler has interrupted. Moves the records
 * in the aside of @t to the ring of @t. The guard of @t is still set.
 */
void aside_flush(struct thread *t);

/*
 * HOT: finds the state that a call belongs to: the state of the thread, or the aside of that state.
 * Sets the guard of the state found and returns this state. Returns NULL when the call is not
 * recorded.
 */
static inline struct thread *guard_enter(void)
{
	struct thread *t = self;

	if (unlikely(!t)) {
		if (!__atomic_load_n(&probe.ready, __ATOMIC_ACQUIRE))
			return NULL;
		t = thread_begin();
	}
	if (unlikely(t->busy))
		return aside_enter(t);
	guard_take(t);
	return t;
}

static inline void guard_leave(struct thread *t)
{
	guard_barrier();
	if (unlikely(t->has_aside_records))
		aside_flush(t);
	t->busy = 0;
}

/*
 * HOT: does the work of guard_leave() as the last action of a hook. If the aside has records,
 * another function writes them, so that the hook needs no prologue.
 */
static inline void guard_leave_fast(struct thread *t)
{
	guard_barrier();
	if (unlikely(t->has_aside_records))
		guard_leave(t);
	else
		t->busy = 0;
}

/*
 * HOT: finds the state that a return belongs to. Sets the state's guard and returns the state, or
 * NULL when there is none. While a hook is interrupted, only frames of the aside return.
 */
static inline struct thread *guard_return(void)
{
	struct thread *t = self;

	if (unlikely(!t))
		return NULL;
	if (unlikely(t->busy)) {
		t = t->aside;
		if (!t || t->busy)
			return NULL;
	}
	guard_take(t);
	return t;
}

/*
 * HOT: pushes the frame of a call. Writes the ENTRY of the call, unless -t holds the ENTRY back.
 * When there is no room for the ENTRY, counts the ENTRY and the EXIT as lost, pushes no frame, and
 * returns false.
 */
static inline bool frame_push(struct thread *t, uint64_t slot, uint64_t ret, uint64_t addr)
{
	bool is_held = t->threshold_ns != 0;

	if (!is_held && unlikely(!hot_reserve(t, sizeof(struct record)))) {
		note_lost(t, 2);
		return false;
	}
	fast_put_frame(t, slot, ret, record_data(RECORD_ENTRY, t->top - t->frames, addr),
		       hot_clock(t), is_held);
	return true;
}

#endif
