/*
 * Hooks at entries of functions. The stub that calls a hook passes the return slot: the place on
 * the stack that holds the return address. The hook decides whether to record the call. For a
 * recorded call, the hook usually pushes a frame and replaces the return address.
 */
#include "libmcount/program/caller.h"
#include "libmcount/patch/calls_patched.h"
#include "libmcount/hot/callers.h"
#include "libmcount/hot/fast.h"
#include "libmcount/hot/frames.h"
#include "libmcount/hot/guard.h"
#include "libmcount/hot/planned_pass.h"
#include "libmcount/hot/stacks.h"

/* Enters a call whose return address is not replaced (callers.h). */
NOINLINE static void enter_kept(struct thread *t, const uint64_t *slot, uint64_t addr)
{
	if (t->top < t->limit)
		frame_push(t, (uint64_t)slot, *slot | FRAME_KEPT, addr);
	else
		note_too_deep(t);
}

/* Handles all calls outside of the common case. Called with the guard set. */
NOINLINE static uint32_t enter_guarded(struct thread *t, uint64_t *slot, uint64_t addr,
				       const struct arch_regs *regs)
{
	uint32_t replaced = 0;

	if (unlikely(stack_may_differ(t, (uint64_t)slot)))
		t = stacks_enter(t, (uint64_t)slot);
	if (unlikely(frame_is_kept(t->top)))
		frames_leave_returned(t, slot);
	if (unlikely(t->top->slot <= (uint64_t)slot))
		frames_make_way(t, slot);

	if (unlikely(!probe.plain)) {
		replaced = planned_enter(t, slot, addr, regs);
	} else if (unlikely(!callers_may_replace(*slot))) {
		enter_kept(t, slot, addr);
	} else if (unlikely(t->top >= t->limit)) {
		note_too_deep(t);
	} else if (likely(frame_push(t, (uint64_t)slot, *slot, addr))) {
		*slot = (uint64_t)arch_return_trampoline;
		replaced = 1;
	}
	if (unlikely(t->is_narrow | frame_is_kept(t->top)) && probe.plain)
		frames_narrow(t);
	guard_leave(t);
	return replaced;
}

NOINLINE static uint32_t enter_unguarded(uint64_t *slot, uint64_t addr,
					 const struct arch_regs *regs)
{
	struct thread *t = guard_enter();

	return t ? enter_guarded(t, slot, addr, regs) : 0;
}

/*
 * Ends a hook that has pushed a frame, and returns 1. Called when t->has_aside_records is set: a
 * signal handler may have stored records in the thread's aside (aside.h).
 */
NOINLINE static uint32_t leave_entered(struct thread *t)
{
	guard_leave(t);
	return 1;
}

/* Enters a call under a plan. The guard is set, and no frame has to be ended first. */
NOINLINE static uint32_t enter_planned(struct thread *t, uint64_t *slot, uint64_t addr,
				       const struct arch_regs *regs)
{
	uint32_t replaced = planned_enter(t, slot, addr, regs);

	guard_leave(t);
	return replaced;
}

/* HOT (libmcount/hot/probe.h). */
inline uint32_t probe_entry(uint64_t *slot, uint64_t addr, const struct arch_regs *regs)
{
	struct thread *t = fast_guard();

	if (unlikely(!t))
		return enter_unguarded(slot, addr, regs);
	if (unlikely(stack_may_differ(t, (uint64_t)slot)) || unlikely(!callers_know(*slot)) ||
	    unlikely(frame_is_kept(t->top)))
		return enter_guarded(t, slot, addr, regs);
	if (unlikely(!probe.plain)) {
		if (planned_leaves_out(t, addr)) {
			guard_leave_fast(t);
			return 0;
		}
		if (planned_passes(t, addr)
			    ? unlikely(!fast_push_alike(t, (uint64_t)slot, *slot, addr))
			    : !planned_admits(t, addr) ||
				      !planned_push_admitted(t, (uint64_t)slot, *slot, addr))
			return enter_planned(t, slot, addr, regs);
	} else if (unlikely(!fast_push_alike(t, (uint64_t)slot, *slot, addr)) &&
		   unlikely(!fast_push(t, (uint64_t)slot, *slot, addr))) {
		return enter_guarded(t, slot, addr, regs);
	}
	*slot = (uint64_t)arch_return_trampoline;
	guard_barrier();
	if (unlikely(t->has_aside_records))
		return leave_entered(t);
	t->busy = 0;
	return 1;
}

/* HOT (libmcount/hot/probe.h). */
inline uint32_t probe_entry_looked_up(uint64_t *slot, uint64_t addr, const struct arch_regs *regs)
{
	struct thread *t = fast_guard();

	if (unlikely(!t))
		return enter_unguarded(slot, addr, regs);
	if (!probe.plain && likely(!stack_may_differ(t, (uint64_t)slot)))
		return enter_planned(t, slot, addr, regs);
	return enter_guarded(t, slot, addr, regs);
}

/* HOT (libmcount/hot/probe.h). */
uint32_t probe_entry_guarded(uint64_t *slot, uint64_t addr, const struct arch_regs *regs)
{
	return enter_guarded(self, slot, addr, regs);
}

/* HOT (libmcount/hot/probe.h). */
uint32_t probe_entry_framed(uint64_t *slot, uint64_t addr, const struct arch_regs *regs,
			    uint64_t *other)
{
	uint64_t apart = (uint64_t)other - (uint64_t)slot;

	if (unlikely(apart - 1 < REALIGN_MAX && apart % sizeof(*slot) == 0) && *other == *slot)
		return probe_entry(other, addr, regs);
	return probe_entry_looked_up(slot, addr, regs);
}

/* Writes ENTRY and EXIT with equal times, for a call whose return cannot be seen. */
static inline void record_instant(struct thread *t, uint64_t addr)
{
	unsigned depth = t->top - t->frames;
	char *at;

	/* With -t, nothing is written: the call would have a duration of 0, which is too short. */
	if (t->threshold_ns)
		return;
	at = hot_reserve(t, 2 * sizeof(struct record));
	if (unlikely(!at)) {
		note_lost(t, 2);
		return;
	}

	uint64_t now_ns = hot_clock(t);

	at = put_record(at, now_ns, record_data(RECORD_ENTRY, depth, addr));
	at = put_record(at, now_ns, record_data(RECORD_EXIT, depth, addr));
	hot_commit(t, at);
}

static inline void put_instant(struct thread *t, const uint64_t *slot, uint64_t addr,
			       const struct arch_regs *regs, const struct arch_regs *result)
{
	if (unlikely(!probe.plain))
		planned_instant(t, slot, addr, regs, result);
	else if (likely(t->top < t->limit))
		record_instant(t, addr);
	else
		note_too_deep(t);
}

/*
 * The latest calls of setjmp(3). The address of the jmp_buf decides which element is used for a
 * call. So when longjmp(3) makes the call return a second time, the probe finds the same element.
 * If two threads write to the same element simultaneously, the element may contain parts of two
 * calls. In this case the second returns of these calls may be lost.
 */
static struct setjmp_call {
	_Atomic uint64_t env;
	_Atomic uint64_t addr;
	_Atomic uint64_t more; /* the second argument of sigsetjmp(3) */
	_Atomic uint64_t sp;   /* the stack pointer after the return */
} setjmp_calls[1024];

static struct setjmp_call *setjmp_place(uint64_t env)
{
	return &setjmp_calls[(env * 0x9e3779b97f4a7c15ULL) >> 54];
}

static void note_setjmp(uint64_t addr, const uint64_t *slot, uint64_t env, uint64_t more)
{
	struct setjmp_call *call = setjmp_place(env);

	atomic_store_explicit(&call->env, env, memory_order_relaxed);
	atomic_store_explicit(&call->addr, addr, memory_order_relaxed);
	atomic_store_explicit(&call->more, more, memory_order_relaxed);
	atomic_store_explicit(&call->sp, (uint64_t)(slot + 1), memory_order_relaxed);
}

void entry_setjmp_returns(struct thread *t, uint64_t env, uint64_t sp, uint64_t value)
{
	const struct setjmp_call *call = setjmp_place(env);
	uint64_t more = atomic_load_explicit(&call->more, memory_order_relaxed);
	struct arch_regs regs = arch_regs_of(env, more, value);

	if (atomic_load_explicit(&call->env, memory_order_relaxed) == env &&
	    atomic_load_explicit(&call->sp, memory_order_relaxed) == sp)
		put_instant(t, &env, call->addr, &regs, &regs);
}

/*
 * Records a call of setjmp(3) at its entry. The first return of setjmp(3) has the result 0, so 0 is
 * recorded.
 */
static void put_setjmp(struct thread *t, const uint64_t *slot, uint64_t addr,
		       const struct arch_regs *regs)
{
	uint64_t env = arch_int_arg(regs, slot, 1);
	uint64_t more = arch_int_arg(regs, slot, 2);
	struct arch_regs result = arch_regs_of(env, more, 0);

	note_setjmp(addr, slot, env, more);
	put_instant(t, slot, addr, regs, &result);
}

static inline void enter_instant(uint64_t *slot, const struct call_site *site,
				 const struct arch_regs *regs)
{
	struct thread *t = guard_enter();

	if (unlikely(!t))
		return;
	if (unlikely(stack_may_differ(t, (uint64_t)slot)))
		t = stacks_enter(t, (uint64_t)slot);
	if (unlikely(t->top->slot <= (uint64_t)slot))
		frames_make_way(t, slot);
	frames_end_tail_call(t, slot);
	if (site->flags & PLAN_CALL_SETJMP)
		put_setjmp(t, slot, site->addr, regs);
	else
		put_instant(t, slot, site->addr, regs, NULL);
	guard_leave(t);
}

/*
 * HOT. Handles a call with PLAN_CALL_LANDING, which gets no record: the calling function has caught
 * an exception. The exception has ended all calls inside of the calling function, so the frames of
 * these inner calls end here.
 */
static inline void land(uint64_t *slot)
{
	struct thread *t = guard_enter();

	if (unlikely(!t))
		return;
	if (t->top->slot <= (uint64_t)slot)
		frames_make_way(t, slot);
	guard_leave(t);
}

/* Handles library calls whose call site has flags. */
NOINLINE static struct libcall special_libcall(uint64_t *slot, struct call_site *site,
					       struct libcall call, struct arch_regs *regs)
{
	if ((site->flags & (CALL_OF_PATCHED | CALL_OF_UNKNOWN)) &&
	    calls_is_left_alone(site, call.target))
		return call;
	if (site->flags & PLAN_CALL_LANDING) {
		land(slot);
	} else if (site->flags & PLAN_CALL_NO_RETURN_HOOK) {
		enter_instant(slot, site, regs);
	} else {
		call.replaced = probe_entry(slot, site->addr, regs);
		/*
		 * The slot may have the trampoline's address for two reasons. Either probe_entry()
		 * has just stored the address, or this call is a tail call. In a tail call, the
		 * function that has jumped here was called with the same slot, and the hook of that
		 * function has stored the address.
		 */
		if ((site->flags & PLAN_CALL_BY_CALLER) &&
		    *slot == (uint64_t)arch_return_trampoline) {
			call.target = (uint64_t)caller_call;
			arch_pass_site(regs, site);
		}
	}
	return call;
}

/* HOT (libmcount/hot/probe.h). */
struct libcall probe_libcall(uint64_t *slot, uint64_t index, struct arch_regs *regs)
{
	struct call_site *site = &probe.calls[index];
	/*
	 * While this thread reads @target, the dynamic linker may write @target in another thread.
	 * The old value and the new value both lead to the called function.
	 */
	struct libcall call = { .target = __atomic_load_n(&site->target, __ATOMIC_RELAXED) };

	if (unlikely(site->flags))
		return special_libcall(slot, site, call, regs);
	call.replaced = probe_entry(slot, site->addr, regs);
	return call;
}
