/* -finstrument-functions: explicit calls at entry and exit. No return address is replaced. */
#include "libmcount/program/interpose.h"
#include "libmcount/hot/fast.h"
#include "libmcount/hot/frames.h"
#include "libmcount/hot/guard.h"
#include "libmcount/hot/planned_open.h"
#include "libmcount/hot/stacks.h"

/*
 * The stack pointer of the hook's caller, which is the hook's canonical frame address (DWARF 5,
 * section 6.4). FRAME_EXPLICIT is added, so the result is odd.
 */
#define CALLER_SP() ((uint64_t)__builtin_dwarf_cfa() + FRAME_EXPLICIT)

/*
 * HOT. gcc and clang insert ordinary calls of the two hooks: one at the beginning of a function,
 * and one before each exit of the function (gcc manual, "Program Instrumentation Options").
 */
EXPORTED void __cyg_profile_func_enter(void *fn, void *caller);
EXPORTED void __cyg_profile_func_exit(void *fn, void *caller);

static bool is_of(const struct frame *f, uint64_t fn)
{
	/* The last shift drops the bits of f->data that do not belong to the function's address. */
	return (f->data ^ fn << RECORD_ADDR_SHIFT) >> RECORD_ADDR_SHIFT == 0;
}

/*
 * Called when @fn is entered with stack pointer @sp. Ends the frames of functions that a jump has
 * left. Such a function has not called its exit hook. A frame at @sp whose return address is
 * @caller stays open: @fn is inlined into the frame's function.
 */
static void leave_jumped_out(struct thread *t, uint64_t sp, uint64_t fn, uint64_t caller)
{
	frames_leave_inside(t, sp);
	while (t->top->slot == sp && t->top->ret != caller)
		frames_leave_any(t);
	for (struct frame *f = t->top; f->slot == sp; f--) {
		if (frame_addr(f) == (fn & RECORD_ADDR_MASK)) {
			frames_leave_until(t, fn);
			return;
		}
	}
}

/*
 * Notes a call of @fn. Filters exclude this call, so the call is not recorded, and has no frame. If
 * the innermost frame belongs to another call of @fn, @cyg_again counts the excluded call.
 * Otherwise no count is needed: when the excluded call exits, was_unwanted() sees that the
 * innermost frame belongs to another function.
 *
 * @cyg_again is needed because the stack pointer cannot identify the exit of the excluded call. If
 * a function jumps to its exit hook, the stack pointer at the exit is higher than at the entry.
 */
static inline void note_unwanted(struct thread *t, uint64_t fn)
{
	if (is_of(t->top, fn))
		t->cyg_again++;
}

/* HOT: true when stack pointer @sp is known to lie on the stack of @t. */
static inline bool is_on_stack(const struct thread *t, uint64_t sp)
{
	return likely(!t->low) || (sp >= t->low && sp <= t->high);
}

/*
 * HOT: true when the exit of @fn at @sp ends a call that filters have excluded. @sp alone does not
 * decide: when a call with a frame exits, the stack pointer may be lower than at the entry
 * (alloca(3)), or higher.
 *
 * The result is false if filters exclude no calls now (planned_skips()), if @sp is outside of the
 * stack of @t (is_on_stack()), or if @sp is above the innermost frame's slot. Otherwise the exit
 * ends an excluded call in two cases:
 * - The innermost frame does not belong to a call of @fn.
 * - The innermost frame belongs to a call of @fn, and @cyg_again is not 0. In this case @cyg_again
 *   is reduced by 1.
 */
static inline bool was_unwanted(struct thread *t, uint64_t sp, uint64_t fn)
{
	if (!planned_skips(t) || !is_on_stack(t, sp) || sp > t->top->slot)
		return false;
	return !is_of(t->top, fn) || (t->cyg_again && t->cyg_again--);
}

/*
 * HOT: true when @f may be a frame of @fn. Only the low halves of the addresses are compared, which
 * takes one instruction. is_of() takes four.
 */
static inline bool may_be_of(const struct frame *f, uint64_t fn)
{
	uint32_t low;

	_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && RECORD_ADDR_SHIFT == 16,
		       "where it is");
	__builtin_memcpy(&low, (const char *)&f->data + RECORD_ADDR_SHIFT / 8, sizeof(low));
	return low == (uint32_t)fn;
}

/*
 * HOT, at the entry or exit of a call that filters have excluded: true when the hook need not
 * change @t. In this case the hook needs no guard.
 */
static inline bool goes_by(const struct thread *t, uint64_t sp, uint64_t fn)
{
	const struct frame *top = t->top;

	return likely(sp <= top->slot) && likely(!may_be_of(top, fn));
}

/* True when the innermost call is a call of @fn that began with stack pointer @sp. */
static inline bool is_top(const struct thread *t, uint64_t sp, uint64_t fn)
{
	return t->top->slot == sp && is_of(t->top, fn);
}

/*
 * True when the innermost frame belongs to a call of @fn with stack pointer @sp, and this call
 * began before the recording. is_of() is false for such a frame.
 */
static bool is_unseen_top(const struct thread *t, uint64_t sp, uint64_t fn)
{
	return frame_is_unseen(t->top) && t->top->slot == sp &&
	       frame_addr(t->top) == (fn & RECORD_ADDR_MASK);
}

/*
 * HOT: true when the call that ends has no frame, because @fn was already left out when the call
 * began.
 */
static inline bool was_left_out(const struct thread *t, uint64_t sp, uint64_t fn)
{
	return t->planned->has_left_out && planned_leaves_out(t, fn) && planned_is_open(t) &&
	       t->top->slot >= sp && sp >= t->low && !is_top(t, sp, fn);
}

/*
 * Does the work of was_left_out() for functions that thread->calls does not contain. A call has a
 * frame if it began before its function was left out.
 */
static bool is_left_out_exit(struct thread *t, uint64_t sp, uint64_t fn)
{
	const struct frame *f = t->top;

	if (!t->planned || !t->planned->plan || !planned_is_left_out(t, fn))
		return false;
	/* This loop ends at thread.last or earlier: the slot of thread.last is above every @sp. */
	while (f->slot < sp)
		f--;
	for (; f->slot == sp; f--) {
		if (is_of(f, fn))
			return false;
	}
	return true;
}

static bool enter_alone(struct thread *t, uint64_t sp, uint64_t fn, uint64_t caller)
{
	if (unlikely(t->top >= t->limit)) {
		note_too_deep(t);
		return false;
	}
	return frame_push(t, sp, caller, fn);
}

static bool enter_planned(struct thread *t, uint64_t sp, uint64_t fn, uint64_t caller)
{
	if (likely(t->planned) && planned_is_unwanted(t, fn)) {
		note_unwanted(t, fn);
		return true;
	}
	if (likely(t->planned) &&
	    (planned_is_left_out(t, fn) ||
	     (planned_is_too_deep(t, fn) && planned_push_too_deep(t, sp, caller, fn))))
		return true;
	return planned_enter_explicit(t, sp, caller, fn, NULL);
}

/*
 * Counts a call without a frame. The call has no frame for one of these reasons: all frames are in
 * use, the ring has no room for the call's record, or the thread cannot get a struct planned. While
 * filters exclude calls (planned_skips()), the call is counted as an excluded call, because
 * was_unwanted() will handle the exit of the call.
 */
static void note_skipped(struct thread *t, uint64_t fn)
{
	if (planned_skips(t)) {
		note_unwanted(t, fn);
		return;
	}
	t->cyg_skipped++;
	t->cyg_deep += is_of(t->top, fn);
}

/*
 * True when @fn exits at @sp from a call that note_skipped() has counted in @cyg_skipped. The stack
 * pointer is compared as in was_unwanted().
 */
static bool was_skipped(struct thread *t, uint64_t sp, uint64_t fn)
{
	bool is_alike = is_of(t->top, fn);

	if (!t->cyg_skipped || sp > t->top->slot || is_unseen_top(t, sp, fn) ||
	    (is_alike && !t->cyg_deep))
		return false;
	t->cyg_skipped--;
	t->cyg_deep -= is_alike;
	return true;
}

/* Handles all calls outside of the common case. Called with the guard set. */
NOINLINE static void enter_guarded(struct thread *t, uint64_t sp, uint64_t fn, uint64_t caller)
{
	bool has_frame;

	if (unlikely(t->top->slot < sp) || unlikely(sp < t->low))
		t = stacks_enter(t, sp);
	/*
	 * A frame with the same @sp may be open: the hook call of an inlined function has the stack
	 * pointer of the enclosing function.
	 */
	if (unlikely(t->top->slot < sp))
		leave_jumped_out(t, sp, fn, caller);
	if (unlikely(!probe.plain))
		has_frame = enter_planned(t, sp, fn, caller);
	else
		has_frame = enter_alone(t, sp, fn, caller);
	if (unlikely(!has_frame))
		note_skipped(t, fn);
	guard_leave(t);
}

NOINLINE static void enter_unguarded(uint64_t sp, uint64_t fn, uint64_t caller)
{
	struct thread *t = guard_enter();

	if (t)
		enter_guarded(t, sp, fn, caller);
}

NOINLINE static void exit_guarded(struct thread *t, uint64_t sp, uint64_t fn)
{
	/* The call and its frame may be on another stack than that of @t. */
	if (!is_top(t, sp, fn))
		t = stacks_find(t, sp);
	if (was_unwanted(t, sp, fn) || is_left_out_exit(t, sp, fn)) {
		guard_leave(t);
		return;
	}
	if (!was_skipped(t, sp, fn)) {
		/* After a longjmp(), @cyg_skipped, @cyg_again and @cyg_deep may be stale. */
		cyg_forget(t);
		if (likely(is_of(t->top, fn)))
			frames_leave_top(t, NULL);
		else
			frames_leave_until(t, fn);
	}
	guard_leave(t);
}

NOINLINE static void exit_unguarded(uint64_t sp, uint64_t fn)
{
	struct thread *t = guard_return();

	/*
	 * If guard_return() returns NULL, the entry of the call was not recorded. In this case the
	 * exit is not recorded.
	 */
	if (t)
		exit_guarded(t, sp, fn);
}

/*
 * HOT: enters a call of @fn, if the table thread->calls does not decide about the call.
 * enter_by_plan() has set the guard, and has checked that no open frame has a slot below @sp.
 * enter_rule() and enter_rule_open() use many registers. If these two functions were inline,
 * enter_by_plan() would save more registers each time.
 */
NOINLINE static void enter_rule(struct thread *t, uint64_t sp, uint64_t fn, uint64_t caller)
{
	if (planned_is_current(t->planned) && planned_fast_enter_known(t, sp, caller, fn, NULL))
		guard_leave_fast(t);
	else
		enter_guarded(t, sp, fn, caller);
}

NOINLINE static void enter_rule_open(struct thread *t, uint64_t sp, uint64_t fn, uint64_t caller)
{
	if (planned_is_current(t->planned) && planned_fast_enter_open(t, sp, caller, fn, NULL))
		guard_leave_fast(t);
	else
		enter_guarded(t, sp, fn, caller);
}

/*
 * HOT: enters a call for which planned_passes() is true, after fast_push_alike() has returned false
 * and pushed no frame.
 */
NOINLINE static void enter_beyond(struct thread *t, uint64_t sp, uint64_t fn, uint64_t caller)
{
	if (planned_push_too_deep(t, sp, caller, fn))
		guard_leave_fast(t);
	else
		enter_guarded(t, sp, fn, caller);
}

/*
 * The hooks call enter_alike(), enter_passing(), enter_left_alone(), enter_by_plan(), exit_alike()
 * and exit_by_plan(). Each of these six functions sets the guard. For most calls that filters
 * exclude, a hook calls none of the functions (goes_by()). If the functions were inlined, the hook
 * would save registers even for these excluded calls.
 */

/* HOT: enters a call of a thread whose @planned is NULL. */
NOINLINE static void enter_alike(struct thread *t, uint64_t sp, uint64_t fn, uint64_t caller)
{
	guard_take(t);
	if (unlikely(t->top->slot < sp) || unlikely(sp < t->low) || unlikely(!probe.plain) ||
	    (!fast_push_alike(t, sp, caller, fn) && !fast_push(t, sp, caller, fn)))
		enter_guarded(t, sp, fn, caller);
	else
		guard_leave_fast(t);
}

/* HOT: enters a call for which planned_passes() is true: the fast paths may record the call. */
NOINLINE static void enter_passing(struct thread *t, uint64_t sp, uint64_t fn, uint64_t caller)
{
	guard_take(t);
	if (unlikely(t->top->slot < sp) || unlikely(sp < t->low))
		enter_guarded(t, sp, fn, caller);
	else if (unlikely(!fast_push_alike(t, sp, caller, fn)))
		enter_beyond(t, sp, fn, caller);
	else
		guard_leave_fast(t);
}

/*
 * HOT: notes a call that gets no frame. If frames must be ended first, if the call may be on
 * another stack, or if planned_leaves_out() has become false, enter_guarded() handles the call.
 */
NOINLINE static void enter_left_alone(struct thread *t, uint64_t sp, uint64_t fn, uint64_t caller)
{
	guard_take(t);
	if (unlikely(t->top->slot < sp) || unlikely(sp < t->low) || !planned_leaves_out(t, fn)) {
		enter_guarded(t, sp, fn, caller);
		return;
	}
	if (!planned_is_open(t))
		note_unwanted(t, fn);
	guard_leave_fast(t);
}

/*
 * HOT: in a thread that has a plan, enters a call for which neither planned_leaves_out() nor
 * planned_passes() is true.
 */
NOINLINE static void enter_by_plan(struct thread *t, uint64_t sp, uint64_t fn, uint64_t caller)
{
	guard_take(t);
	if (unlikely(t->top->slot < sp) || unlikely(sp < t->low))
		enter_guarded(t, sp, fn, caller);
	else if (planned_admits(t, fn)) {
		if (unlikely(!planned_push_admitted(t, sp, caller, fn)))
			enter_guarded(t, sp, fn, caller);
		else
			guard_leave_fast(t);
	} else if (planned_is_open(t))
		enter_rule_open(t, sp, fn, caller);
	else if (unlikely(t->planned->open_base)) /* THREAD_READY: usually @fn's first call */
		enter_guarded(t, sp, fn, caller);
	else
		enter_rule(t, sp, fn, caller);
}

void __cyg_profile_func_enter(void *fn, void *caller)
{
	struct thread *t = self;
	uint64_t sp = CALLER_SP();

	if (unlikely(!t) || unlikely(t->busy))
		enter_unguarded(sp, (uint64_t)fn, (uint64_t)caller);
	else if (!t->planned)
		enter_alike(t, sp, (uint64_t)fn, (uint64_t)caller);
	else if (likely(planned_leaves_out(t, (uint64_t)fn))) {
		if (unlikely(!goes_by(t, sp, (uint64_t)fn)) || unlikely(sp < t->low))
			enter_left_alone(t, sp, (uint64_t)fn, (uint64_t)caller);
	} else if (planned_passes(t, (uint64_t)fn))
		enter_passing(t, sp, (uint64_t)fn, (uint64_t)caller);
	else
		enter_by_plan(t, sp, (uint64_t)fn, (uint64_t)caller);
}

/*
 * HOT: true when the exit at @sp may belong to another call than the innermost one. An @sp far
 * above the innermost frame is on another stack. An @sp below this frame belongs to a nested call,
 * or to a function that has called alloca(3).
 */
static inline bool is_far(const struct thread *t, uint64_t sp)
{
	return sp - t->top->slot > 4096;
}

/* HOT: in a thread that has a plan, ends the innermost call. The guard is set. */
NOINLINE static void exit_rule(struct thread *t, uint64_t sp, uint64_t fn)
{
	if (t->planned->open_base) {
		if (planned_leave_open(t, NULL)) {
			guard_leave_fast(t);
			return;
		}
		planned_close(t);
	}
	if (planned_fast_leave(t, NULL))
		guard_leave_fast(t);
	else
		exit_guarded(t, sp, fn);
}

/* HOT: ends a call that most likely has a frame. The guard is set. */
static inline void exit_seen(struct thread *t, uint64_t sp, uint64_t fn)
{
	if (unlikely(t->cyg_skipped) || unlikely(is_far(t, sp)) || unlikely(!is_of(t->top, fn)))
		exit_guarded(t, sp, fn);
	else if (likely(fast_pop_alike(t)))
		guard_leave_fast(t);
	else if (t->planned)
		exit_rule(t, sp, fn);
	else if (likely(fast_pop(t)))
		guard_leave_fast(t);
	else
		exit_guarded(t, sp, fn);
}

/*
 * HOT: ends a call of @fn in a thread whose @planned is NULL. Also ends a call of @fn if
 * planned_is_open() is true for the thread, and planned_leaves_out() is false for @fn.
 */
NOINLINE static void exit_alike(struct thread *t, uint64_t sp, uint64_t fn)
{
	guard_take(t);
	exit_seen(t, sp, fn);
}

/* HOT: ends a call that exit_alike() does not end. */
NOINLINE static void exit_by_plan(struct thread *t, uint64_t sp, uint64_t fn)
{
	guard_take(t);
	if (was_unwanted(t, sp, fn) || was_left_out(t, sp, fn))
		guard_leave_fast(t);
	else
		exit_seen(t, sp, fn);
}

void __cyg_profile_func_exit(void *fn, void *caller)
{
	struct thread *t = self;
	uint64_t sp = CALLER_SP();

	if (unlikely(!t) || unlikely(t->busy))
		exit_unguarded(sp, (uint64_t)fn);
	else if (!t->planned)
		exit_alike(t, sp, (uint64_t)fn);
	else if (likely(planned_leaves_out(t, (uint64_t)fn))) {
		if (unlikely(!goes_by(t, sp, (uint64_t)fn)) || unlikely(!is_on_stack(t, sp)))
			exit_by_plan(t, sp, (uint64_t)fn);
	} else if (planned_is_open(t))
		exit_alike(t, sp, (uint64_t)fn);
	else
		exit_by_plan(t, sp, (uint64_t)fn);
}

OWN_NAME(__cyg_profile_func_enter);
OWN_NAME(__cyg_profile_func_exit);
