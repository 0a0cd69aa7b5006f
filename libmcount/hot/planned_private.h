/*
 * Declarations that the parts of planned.h share: planned_enter.c (entries), planned_leave.c
 * (records, returns), planned_state.c (memory).
 */
#ifndef UTRAIL_LIBMCOUNT_PLANNED_PRIVATE_H
#define UTRAIL_LIBMCOUNT_PLANNED_PRIVATE_H

#include "libmcount/hot/guard.h"
#include "libmcount/hot/planned.h"
#include "libmcount/hot/planned_open.h"
#include "libmcount/values/reads.h"
#include "libmcount/values/watch.h"

/*
 * SLOW, called by slow_call(). Allocate the memory for the members @args (payloads) and @readings
 * (values that are read for PLAN_READ) of a struct planned.
 */
void planned_make_args(void *planned);
void planned_make_readings(void *planned);

/* HOT: true when there is room for one more payload. */
static inline bool has_args_room(struct planned *p)
{
	if (unlikely(!p->args))
		slow_call(planned_make_args, p);
	return likely(p->args_bytes - p->args_top >= CAPTURE_ROOM);
}

/*
 * HOT: does slow work, such as making room for a record with all payloads, before arguments are
 * captured. The slow work and the capturing both need room on the program's stack, which may be
 * small. So the slow work ends before the capturing begins (doc/internals/hot-path.md,
 * "Arguments"). Does nothing in a forked child that has not reported itself to the recorder.
 */
static inline void planned_prepare(struct thread *t)
{
	uint64_t bytes = sizeof(struct record) + CAPTURE_ROOM;

	if (!t->planned->has_steps || atomic_load_explicit(&probe.forked, memory_order_relaxed))
		return;
	if (unlikely((uint64_t)(t->end - t->at) < bytes))
		ring_make_room(t, bytes);
	if (unlikely(!t->planned->args))
		slow_call(planned_make_args, t->planned);
	if (unlikely(fault_state == FAULT_UNKNOWN))
		fault_look();
	hot_clock(t);
}

/*
 * HOT: like hot_clock(), but to be called after planned_prepare(). If necessary, planned_prepare()
 * renews the fit of the CPU's counter to the kernel's clock (clock_refit()). planned_clock() uses
 * the present fit, even if the fit has become too old since planned_prepare().
 */
static inline uint64_t planned_clock(struct thread *t)
{
	uint64_t now_ns;

	if (!t->planned->has_steps || !t->refit_ticks)
		return hot_clock(t);
	fast_clock(t, &now_ns);
	t->last_ns = now_ns;
	return now_ns;
}

/*
 * The arguments of planned_take_reading(), which takes a reading for PLAN_READ. The function is
 * SLOW, so it is called by slow_call().
 */
struct take_reading {
	uint32_t what;
	struct reading *out;
};

void planned_take_reading(void *take);

/*
 * The program's own return address for @f. The slot of @f may have the trampoline's address
 * instead. Frames of tail calls share one slot.
 */
uint64_t planned_own_return(const struct frame *f);

/*
 * For the trigger `recover`. When the call with frame @f begins, @shows is true, and this function
 * puts the program's own return addresses back into the slots of the callers. So code inside of the
 * call can walk the stack. When the call ends, @shows is false, and this function puts the
 * trampoline's address into the callers' slots again.
 */
void planned_show_returns(struct thread *t, const struct frame *f, bool shows);

/*
 * Write the ENTRY, or the EXIT, of @f with its payloads. When there is no room, lost records are
 * counted, and planned_put_entry() returns false.
 */
bool planned_put_entry(struct thread *t, const struct frame *f, const struct planned_frame *pf);
void planned_put_exit(struct thread *t, const struct frame *f, const struct planned_frame *pf,
		      uint64_t now_ns, const struct arch_regs *regs);

#endif
