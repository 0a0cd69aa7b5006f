/* Entry of a traced function whose stub knows the return slot: decide, note the frame, replace the slot. */
#include "libmcount/frames.h"
#include "libmcount/guard.h"

uint32_t plan_action_at(const struct plan_table *table, uint64_t addr)
{
	uint64_t low = 0;
	uint64_t high = table->nr;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (table->funcs[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < table->nr && table->funcs[low].start <= addr)
		return table->funcs[low].action;
	return 0;
}

static inline uint32_t enter(uint64_t *slot, uint64_t addr)
{
	struct thread *t = guard_enter();
	uint32_t replaced = 0;

	if (unlikely(!t))
		return 0;

	if (unlikely(t->top->slot <= (uint64_t)slot))
		frames_make_way(t, slot);

	if (likely(t->top < t->limit) && likely(frame_is_wanted(addr)) &&
	    likely(frame_push(t, (uint64_t)slot, *slot, addr))) {
		*slot = (uint64_t)arch_return_trampoline;
		replaced = 1;
	}
	guard_leave(t);
	return replaced;
}

/* HOT (libmcount/probe.h). */
uint32_t probe_entry(uint64_t *slot, uint64_t addr)
{
	return enter(slot, addr);
}

/* How far apart the two can be: the alignment and the copy. */
#define REALIGN_MAX 4096

/* HOT (libmcount/probe.h). */
uint32_t probe_entry_framed(uint64_t *slot, uint64_t addr, uint64_t *other)
{
	uint64_t apart = (uint64_t)other - (uint64_t)slot;

	if (unlikely(apart - 1 < REALIGN_MAX && apart % sizeof(*slot) == 0) && *other == *slot)
		slot = other;
	return enter(slot, addr);
}

/* ENTRY and EXIT at one moment, for a call whose return cannot be seen. */
static inline void record_instant(struct thread *t, uint64_t addr)
{
	unsigned depth = t->top - t->frames;
	char *at;

	/* It takes no time, so -t drops it like any short call. */
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

static inline void enter_instant(uint64_t *slot, uint64_t addr)
{
	struct thread *t = guard_enter();

	if (unlikely(!t))
		return;
	if (unlikely(t->top->slot <= (uint64_t)slot))
		frames_make_way(t, slot);
	frames_end_tail_call(t, slot);
	if (likely(t->top < t->limit) && likely(frame_is_wanted(addr)))
		record_instant(t, addr);
	guard_leave(t);
}

/* HOT (libmcount/probe.h). */
struct libcall probe_libcall(uint64_t *slot, uint64_t index)
{
	struct call_site *site = &probe.calls[index];
	/* The dynamic linker stores here while others call: either value leads to the function. */
	struct libcall call = { .target = __atomic_load_n(&site->target, __ATOMIC_RELAXED) };

	if (unlikely(site->flags & PLAN_CALL_NO_RETURN_HOOK))
		enter_instant(slot, site->addr);
	else
		call.replaced = enter(slot, site->addr);
	return call;
}
