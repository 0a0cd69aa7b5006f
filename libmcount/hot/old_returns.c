/* The true return addresses of abandoned frames (see old_returns.h). */
#include "libmcount/hot/old_returns.h"

#include <stdatomic.h>

#define GRAVES 65536 /* a power of two; unused pages cost nothing */
#define PROBES 8

/*
 * While a thread writes @ret, @slot is BEING_WRITTEN. Readers and other writers skip such an entry.
 * Otherwise a reader could get a @ret that does not belong to @slot. If a signal handler interrupts
 * the writing thread and does not return, the entry stays unused. If another thread forks a child
 * during the write, the child's copy of the entry stays unused.
 */
#define BEING_WRITTEN 1

static struct grave {
	_Atomic uint64_t slot;
	_Atomic uint64_t ret;
} graves[GRAVES];

/*
 * Returns the @i-th entry in which @slot may be. Fibonacci hashing gives the first entry, and the
 * others follow it.
 */
static struct grave *find_grave(uint64_t slot, unsigned i)
{
	uint64_t hash = (slot >> 3) * 0x9e3779b97f4a7c15ULL >> 48;

	return &graves[(hash + i) % GRAVES];
}

void old_returns_put(uint64_t slot, uint64_t ret)
{
	/*
	 * If all PROBES entries belong to other slots, the second half of the loop replaces an
	 * entry.
	 */
	for (unsigned i = 0; i < 2 * PROBES; i++) {
		struct grave *g = find_grave(slot, i % PROBES);
		uint64_t there = atomic_load_explicit(&g->slot, memory_order_relaxed);

		if (i < PROBES && there && there != slot)
			continue;
		if (there == BEING_WRITTEN ||
		    !atomic_compare_exchange_strong(&g->slot, &there, BEING_WRITTEN))
			continue;
		atomic_store_explicit(&g->ret, ret, memory_order_release);
		atomic_store_explicit(&g->slot, slot, memory_order_release);
		return;
	}
}

uint64_t old_returns_get(uint64_t slot)
{
	for (unsigned i = 0; i < PROBES; i++) {
		struct grave *g = find_grave(slot, i);

		if (atomic_load_explicit(&g->slot, memory_order_acquire) == slot) {
			uint64_t ret = atomic_load_explicit(&g->ret, memory_order_acquire);

			if (atomic_load_explicit(&g->slot, memory_order_acquire) == slot)
				return ret;
		}
	}
	return 0;
}
