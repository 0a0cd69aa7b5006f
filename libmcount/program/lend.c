/* Thread states for children that run in the memory of their parent (see lend.h). */
#include "libmcount/program/lend.h"

#include "libmcount/hot/frames.h"
#include "libmcount/hot/guard.h"
#include "libmcount/system/own_syscall.h"

/*
 * Returns the slot of a copied frame. The slot is above all stacks, so no call or return ends the
 * frame. The slot is odd (FRAME_EXPLICIT).
 */
static uint64_t place_outside(uint64_t depth)
{
	return INT64_MAX - 2 * depth;
}

static void copy_frames(struct thread *lent, const struct thread *t, uint64_t slot)
{
	uint64_t nr = t->top - t->frames;

	for (uint64_t i = 1; i <= nr; i++) {
		struct frame *f = &lent->frames[i];

		*f = t->frames[i];
		if (slot && f->slot == slot)
			continue;
		f->slot = place_outside(i);
		f->ret = frame_return(f);
		f->data |= FRAME_UNSEEN;
	}
	lent->top = lent->written = lent->frames + nr;
}

/* Takes a state for a child of @t. Returns NULL when no state or no ring is free. */
static struct thread *take_state_with_ring(struct thread *t)
{
	uint64_t mask;
	/* If a signal handler forked here, the child would take a ring of its parent. */
	bool is_quiet = own_quiet_begin(&mask);
	struct thread *made = thread_take_state();

	if (made) {
		made->lender = t;
		thread_claim_ring(made);
	}
	if (made && !made->ring) {
		thread_give_back(made);
		made = NULL;
	}
	if (is_quiet)
		own_quiet_end(mask);
	return made;
}

static void make_lent_state(void *arg)
{
	struct thread **lent = arg;
	struct thread *t = *lent;
	struct thread *made = seal_may_begin() ? take_state_with_ring(t) : NULL;

	*lent = NULL;
	if (!made)
		return;
	/* If @low is 0, the probe does not check which stack the child's calls are on. */
	made->low = 0;
	made->last_ns = t->last_ns;
	*lent = made;
}

struct thread *lend_prepare(uint64_t slot)
{
	struct thread *t = guard_enter();
	struct thread *lent = t;

	if (!t)
		return NULL;
	if (!t->is_aside && probe.tracing)
		slow_call(make_lent_state, &lent);
	else
		lent = NULL;
	if (lent) {
		copy_frames(lent, t, slot);
		if (lent->planned)
			planned_copy(lent, t);
	}
	guard_leave(t);
	return lent;
}

void lend_begin(struct thread *lent)
{
	if (!lent)
		return;
	/*
	 * A signal handler may have called fork(2) after lend_prepare(). In the new process @lent
	 * has no ring, since the ring belongs to the process that called lend_prepare(). A child
	 * whose state has no ring records nothing.
	 */
	if (!lent->ring) {
		self = &probe_idle_thread;
		return;
	}
	thread_name_ring(lent);
	self = lent;
}

static void take_back(void *arg)
{
	struct thread *lent = arg;
	uint64_t mask;
	bool is_quiet = own_quiet_begin(&mask);
	struct ring *r = lent->ring;

	/* If no child has run lend_begin(), the ring is still RING_CLAIMED, and is freed here. */
	if (r && atomic_load(&r->state) == RING_CLAIMED) {
		lent->ring = NULL;
		atomic_store_explicit(&r->state, RING_FREE, memory_order_release);
	}
	thread_give_back(lent);
	if (is_quiet)
		own_quiet_end(mask);
}

void lend_end(struct thread *lent)
{
	if (!lent)
		return;

	struct thread *t = lent->lender;

	self = t;
	guard_take(t);
	t->last_ns = MAX(t->last_ns, lent->last_ns);
	slow_call(take_back, lent);
	guard_leave(t);
}
