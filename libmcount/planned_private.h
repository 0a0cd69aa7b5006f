/* What the parts of planned.h share: planned.c (entries), planned_leave.c (records, returns), planned_state.c (memory). */
#ifndef UTRAIL_LIBMCOUNT_PLANNED_PRIVATE_H
#define UTRAIL_LIBMCOUNT_PLANNED_PRIVATE_H

#include "libmcount/guard.h"
#include "libmcount/planned.h"
#include "libmcount/planned_fast.h"

/* SLOW, by slow_call(): memory for payloads on their way, and for readings; of struct planned. */
void planned_make_args(void *planned);
void planned_make_readings(void *planned);

/* HOT: whether one more payload has room; never so without memory. */
static inline bool has_args_room(struct planned *p)
{
	if (unlikely(!p->args))
		slow_call(planned_make_args, p);
	return likely(p->args_bytes - p->args_top >= CAPTURE_ROOM);
}

/* What PLAN_READ reads; SLOW, by slow_call(). */
struct take_reading {
	uint32_t what;
	struct reading *out;
};

void planned_take_reading(void *take);

/* What the slot of @f held before us; frames of tail calls share it. */
uint64_t planned_own_return(const struct frame *f);

/*
 * `recover`: whoever walks the stack by itself inside of @f sees the program's own return addresses, and after it no more.
 */
void planned_show_returns(struct thread *t, const struct frame *f);
void planned_hide_returns(struct thread *t, const struct frame *f);

/* The ENTRY, the EXIT of @f with what belongs to it. False when there was no room. */
bool planned_put_entry(struct thread *t, const struct frame *f, const struct planned_frame *pf);
void planned_put_exit(struct thread *t, const struct frame *f, const struct planned_frame *pf,
		      uint64_t now_ns, const struct arch_regs *regs);

#endif
