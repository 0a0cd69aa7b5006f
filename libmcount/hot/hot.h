/*
 * Steps that every record takes: reading the clock, reserving room, committing. The words HOT and
 * WARM are explained in libmcount/hot/probe.h.
 */
#ifndef UTRAIL_LIBMCOUNT_HOT_H
#define UTRAIL_LIBMCOUNT_HOT_H

#include "libmcount/hot/probe.h"

/*
 * Keeps the compiler from moving code out of the guarded region. Only a signal handler of the same
 * thread could see code out of order, so no CPU barrier is needed.
 */
#define guard_barrier() __asm__ volatile("" ::: "memory")

/* HOT: sets the guard of @t. The guard must not be set already. */
static inline void guard_take(struct thread *t)
{
	t->busy = 1;
	guard_barrier();
}

/*
 * HOT: returns the time of the recording's clock in ns. Within a thread the returned time never
 * decreases. But a measured time can be lower than the previous time: the CPU may reorder reads of
 * its counter, or a new fit of the counter to the kernel's clock (clock_refit()) may give lower
 * times than the old fit.
 */
static inline uint64_t hot_clock(struct thread *t)
{
	uint64_t fit_ticks = t->refit_ticks;
	uint64_t ticks = 0;
	uint64_t ns;

	/*
	 * If fit_ticks is 0, clock_refit() finds the time, so the counter is not read here. A read
	 * of the counter may take as long as a read of the kernel's clock.
	 */
	if (likely(fit_ticks))
		ticks = arch_counter_read() - t->base_counter;
	if (unlikely(ticks >= fit_ticks))
		ns = clock_refit(t);
	else
		ns = t->base_ns + (ticks * t->mult >> 32);
	if (unlikely(ns < t->last_ns))
		ns = t->last_ns;
	t->last_ns = ns;
	return ns;
}

/*
 * HOT: returns room for @len bytes in the ring. Returns NULL when the ring is full, or when @t has
 * no ring because the recording has ended. In these cases the caller counts lost records.
 * Called only by the owning thread, inside of the guard.
 */
static inline char *hot_reserve(struct thread *t, uint32_t len)
{
	if (unlikely((uint64_t)(t->end - t->at) < len) && !ring_make_room(t, len))
		return NULL;
	return t->at;
}

/*
 * HOT: publishes everything before @end. This store pairs with the writer's acquire load of
 * ring->head.
 */
static inline void hot_commit(struct thread *t, char *end)
{
	t->at = end;
	atomic_store_explicit(&t->ring->head, (uint64_t)end + t->position, memory_order_release);
}

/*
 * WARM. In a forked child, reports the child to the recorder if necessary, and gives @t a ring.
 * Called before the clock is read for a record, so that the record is not older than the report or
 * the ring.
 */
static inline void hot_be_known(struct thread *t)
{
	if (unlikely(!t->at) &&
	    (unlikely(atomic_load_explicit(&probe.forked, memory_order_relaxed)) ||
	     unlikely(t->wants_ring)))
		ring_make_room(t, sizeof(struct record));
}

static inline char *put_record(char *at, uint64_t time_ns, uint64_t data)
{
	struct record *r = (struct record *)at;

	r->time_ns = time_ns;
	r->data = data;
	return at + sizeof(*r);
}

/* Adds @count to a counter that only one thread changes. Other threads only read the counter. */
static inline void add_alone(_Atomic uint64_t *counter, uint64_t count)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + count,
			      memory_order_relaxed);
}

#endif
