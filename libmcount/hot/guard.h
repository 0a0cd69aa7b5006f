/*
 * The code that all entry hooks share: the per-thread guard and the push of a frame. The guard is
 * set while a hook runs. If a signal handler interrupts a hook, the calls of the handler use the
 * aside (aside.c), a second state of the thread. The aside has a guard of its own.
 */
#ifndef UTRAIL_LIBMCOUNT_GUARD_H
#define UTRAIL_LIBMCOUNT_GUARD_H

#include "libmcount/hot/fast.h"
#include "libmcount/hot/hot.h"

/*
 * WARM. Used when a function is called while a hook of @t runs. Usually, a signal handler has
 * interrupted the hook, and the handler makes the call. Sets the guard of the second state
 * of @t, the aside (aside.c). Returns the aside, or NULL when the call is not recorded.
 */
struct thread *aside_enter(struct thread *t);

/*
 * WARM. Used at the end of a hook that a signal handler has interrupted. The handler's records are
 * in a buffer, the aside of @t (aside.c). Moves these records to the ring of @t. The guard of @t is
 * set during the move, and stays set.
 */
void aside_flush(struct thread *t);

/*
 * HOT: finds the struct thread that records a call. While another hook of this thread runs, this
 * struct is the aside (aside.c). Otherwise, the struct is self. Sets the guard of the struct, and
 * returns the struct. Returns NULL when the call is not recorded.
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
 * HOT: does what guard_leave() does, and is used as the last action of a hook. If a signal handler
 * has left records in the aside (aside.c), calls guard_leave(). Otherwise, clears the guard. Since
 * the call of guard_leave() comes last, the compiler can turn the call into a jump. Then the hook
 * needs no prologue.
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
 * HOT: finds the thread state that has the frame of a returning call. Sets the guard of the state,
 * and returns the state, or NULL when there is none. If a signal handler has interrupted a hook,
 * the returning call was made by the handler or by a function that the handler has called. The
 * frame of this call is in the thread's second state, the aside (aside.c).
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
