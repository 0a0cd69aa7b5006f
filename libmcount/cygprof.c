/* -finstrument-functions: explicit calls at entry and exit; no return address is replaced. */
#include "libmcount/frames.h"
#include "libmcount/guard.h"

/*
 * HOT. gcc and clang call these at the beginning of a function and before each of its ends; they are ordinary
 * calls for the compiler (gcc manual, "Program Instrumentation Options").
 */
/*
 * The stack pointer of the function that calls a hook, from the hook's own frame: return address and saved frame
 * pointer lie between. All calls that the function makes have their return slots below. Odd: FRAME_EXPLICIT.
 */
#define CALLER_SP() ((uint64_t)__builtin_frame_address(0) + 16 + FRAME_EXPLICIT)

EXPORTED void __cyg_profile_func_enter(void *fn, void *caller);
EXPORTED void __cyg_profile_func_exit(void *fn, void *caller);

/*
 * Frames inside of @sp were left without their exits. Those at @sp are still there if @fn is a part of the same
 * machine function, inlined, which then returns to the same place. Else they were left with them. So was @fn
 * itself when it was called from there before (setjmp in a loop).
 */
static void leave_jumped_out(struct thread *t, uint64_t sp, uint64_t fn, uint64_t caller)
{
	frames_leave_inside(t, sp);
	while (t->top->slot == sp && t->top->ret != caller)
		frames_leave_top(t);
	for (struct frame *f = t->top; f->slot == sp; f--) {
		if (record_addr(f->data) == (fn & RECORD_ADDR_MASK)) {
			frames_leave_until(t, fn);
			return;
		}
	}
}

void __cyg_profile_func_enter(void *fn, void *caller)
{
	struct thread *t = guard_enter();
	uint64_t sp = CALLER_SP();

	if (unlikely(!t))
		return;
	/* Inlined functions are announced too: they share the stack pointer of the function around them. */
	if (unlikely(t->top->slot < sp))
		leave_jumped_out(t, sp, (uint64_t)fn, (uint64_t)caller);
	if (likely(frame_is_wanted((uint64_t)fn))) {
		if (unlikely(t->top >= t->limit) ||
		    unlikely(!frame_push(t, sp, (uint64_t)caller, (uint64_t)fn)))
			t->cyg_skipped++;
	}
	guard_leave(t);
}

void __cyg_profile_func_exit(void *fn, void *caller)
{
	struct thread *t = self;
	uint64_t sp = CALLER_SP();

	/* No state or a busy one: the matching enter was not seen either. */
	if (unlikely(!t) || unlikely(t->busy))
		return;
	if (unlikely(!frame_is_wanted((uint64_t)fn)))
		return;

	bool is_top = record_addr(t->top->data) == ((uint64_t)fn & RECORD_ADDR_MASK);

	t->busy = 1;
	guard_barrier();
	/* After a longjmp the count may be stale; the frame that is at home on this stack pointer knows better. */
	if (unlikely(t->cyg_skipped) && !(is_top && t->top->slot == sp)) {
		t->cyg_skipped--;
	} else {
		t->cyg_skipped = 0;
		if (likely(is_top))
			frames_leave_top(t);
		else
			frames_leave_until(t, (uint64_t)fn);
	}
	guard_leave(t);
}
