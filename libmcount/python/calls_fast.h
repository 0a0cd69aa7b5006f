/*
 * The common case of a Python call and of its return. Uncommon cases go to calls.c by a tail call,
 * so callbacks need no prologue (hot/fast.h).
 */
#ifndef UTRAIL_LIBMCOUNT_PYTHON_CALLS_FAST_H
#define UTRAIL_LIBMCOUNT_PYTHON_CALLS_FAST_H

#include "libmcount/hot/fast.h"
#include "libmcount/hot/guard.h"
#include "libmcount/python/codes.h"
#include "libmcount/python/natives.h"

/*
 * The array thread.python_calls has the open calls of a thread: calls to Python code, and calls to
 * functions in C. Some open calls are not in the array: calls that the probe ignores
 * (fast_leaves_alone()), and calls beyond CALLS_MAX. Each element is the key of a call (@key of the
 * functions below), with these flags in the low bits. python_calls[-1] is 0.
 */
#define CALL_HAS_FRAME	1UL /* the call has a struct frame */
#define CALL_IS_OWN	2UL /* the called function counts as one of the program (NAME_OWN) */
#define CALL_HAS_RESULT 4UL /* the result of the call is recorded */
#define CALL_BITS	7UL

_Static_assert(CALL_IS_OWN == NAME_OWN, "facts are compared with it");

/*
 * The largest number of open calls in thread.python_calls. Python's own limit of nested calls is
 * 1000 by default.
 */
#define CALLS_MAX 65536U

/*
 * FAST_DONE: the event needs no more work
 * FAST_NOT: nothing has changed
 * FAST_OTHER: nothing has changed, and fast_leaves_alone() may be true for the call
 * FAST_GUARDED: nothing has changed, except that the guard is set
 * FAST_ASIDE: the event needs no more work, but the guard is still set, and the thread's aside
 *             (hot/aside.h) has records. The caller must call calls_unguard(), which moves the
 *             records to the thread's ring, and then clears the guard
 */
enum fast_call {
	FAST_DONE,
	FAST_NOT,
	FAST_OTHER,
	FAST_GUARDED,
	FAST_ASIDE,
};

/*
 * Returns the value of frame.slot for a Python call inside of @f. The value is not an address,
 * because a Python call has no return slot of its own.
 */
static inline uint64_t slot_inside(const struct frame *f)
{
	return (f->slot - 1) | FRAME_EXPLICIT;
}

/*
 * Returns the state of this thread if the functions below can handle the thread's calls, else NULL.
 */
static inline struct thread *fast_python_thread(void)
{
	struct thread *t = self;

	if (unlikely(!t) || unlikely(t->busy) || unlikely(!probe_is_alike()) ||
	    unlikely(t->planned) || unlikely(!t->python_calls))
		return NULL;
	return t;
}

/*
 * Returns a pointer to the last used element of thread.python_calls, which stands for the innermost
 * open call. If no call is open, the pointer leads to python_calls[-1], which is 0.
 */
static inline uint64_t *fast_innermost(const struct thread *t)
{
	return t->python_calls + t->nr_python_calls - 1;
}

/* True when @t has an open call, and room for another one. */
static inline bool fast_is_within(const struct thread *t)
{
	return likely(t->nr_python_calls - 1 < CALLS_MAX - 1);
}

static inline enum fast_call fast_unguard(struct thread *t)
{
	guard_barrier();
	if (unlikely(t->has_aside_records))
		return FAST_ASIDE;
	t->busy = 0;
	return FAST_DONE;
}

/* Enters a call that is recorded. fast_is_within(@t) must be true, and @addr must not be 0. */
static INLINE enum fast_call fast_enter(struct thread *t, uint64_t key, uint64_t addr,
					uint64_t bits)
{
	guard_take(t);
	if (unlikely(!fast_push_alike(t, slot_inside(t->top), key, addr)))
		return FAST_GUARDED;
	t->python_calls[t->nr_python_calls++] = key | bits | CALL_HAS_FRAME;
	return fast_unguard(t);
}

/* HOT, with the GIL. Enters a call of @code. The call has just begun. */
static INLINE enum fast_call fast_begin_code(struct py_object *code, uint64_t key)
{
	struct thread *t = fast_python_thread();
	name_facts facts = codes_known_facts(code);

	if (unlikely(!t) || unlikely(!fast_is_within(t)) || unlikely(!facts))
		return FAST_NOT;
	if (!((facts | (*fast_innermost(t) & python_codes.inherited)) & NAME_OWN)) {
		if (unlikely(!python_codes.inherited))
			return FAST_OTHER;
		t->python_calls[t->nr_python_calls++] = key;
		return FAST_DONE;
	}
	if (unlikely((facts & (NAME_ASKED | NAME_VALUES)) != NAME_ASKED) ||
	    unlikely(!name_address(facts)))
		return FAST_NOT;
	return fast_enter(t, key, name_address(facts), facts & NAME_OWN);
}

/* HOT, with the GIL. Enters a call of the C function that @def defines. The call has just begun. */
static INLINE enum fast_call fast_begin_native(const struct py_method_def *def)
{
	struct thread *t = fast_python_thread();
	name_facts facts;

	if (unlikely(!t) || unlikely(!fast_is_within(t)))
		return FAST_NOT;
	if (!(*fast_innermost(t) & python_codes.inherited))
		return FAST_OTHER;
	facts = natives_known_facts(def);
	if (unlikely(!name_address(facts)))
		return FAST_NOT;
	return fast_enter(t, (uint64_t)def, name_address(facts), CALL_IS_OWN);
}

/* HOT, with the GIL. Ends the innermost call, if its key is @key. */
static INLINE enum fast_call fast_end(uint64_t key)
{
	struct thread *t = fast_python_thread();
	uint64_t call;

	if (unlikely(!t) || unlikely(t->nr_python_calls > CALLS_MAX))
		return FAST_NOT;
	call = *fast_innermost(t);
	if (unlikely((call & ~(CALL_HAS_FRAME | CALL_IS_OWN)) != key))
		return FAST_OTHER;
	if (!(call & CALL_HAS_FRAME)) {
		t->nr_python_calls--;
		return FAST_DONE;
	}
	guard_take(t);
	if (unlikely(t->top->ret != key) || unlikely(!(t->top->slot & FRAME_EXPLICIT)) ||
	    unlikely(!fast_pop_alike(t)))
		return FAST_GUARDED;
	t->nr_python_calls--;
	return fast_unguard(t);
}

/*
 * HOT, with the GIL: true for calls that are neither recorded nor counted as open. With @is_native,
 * a function in C is called, and @code is the caller. Without @is_native, @code itself is called.
 *
 * With --no-libcall, the result is true for each call of a function in C, and for each call of code
 * of a library. Without --no-libcall, the result is true only if code of a library calls a function
 * in C. If the facts about @code are not known, @code counts as code of the program itself.
 */
static inline bool fast_leaves_alone(struct py_object *code, bool is_native)
{
	name_facts facts = codes_known_facts(code);

	if (!python_codes.inherited && is_native)
		return true;
	return facts && !(facts & NAME_OWN) && (is_native || !python_codes.inherited);
}

#endif
