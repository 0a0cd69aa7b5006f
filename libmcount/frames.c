/* Open frames that are left out of order (see frames.h). */
#include "libmcount/frames.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define TRAMPOLINE ((uint64_t)arch_return_trampoline)

void frames_write_entries(struct thread *t, struct frame *f)
{
	for (struct frame *g = t->written + 1; g <= f; g++) {
		char *at = hot_reserve(t, sizeof(struct record));

		if (likely(at))
			hot_commit(t, put_record(at, g->time_ns, g->data));
		else
			note_lost(t, 1);
	}
	t->written = f;
}

/* Whether the slot of @f was replaced by us and is its own (a tail-called function shares its caller's). */
static bool owns_slot(const struct frame *f)
{
	return f->ret != 0 && f->ret != TRAMPOLINE;
}

struct slot_access {
	uint64_t address;
	uint64_t expected;
	uint64_t value;
};

/*
 * Replace a word of a stack that may be gone: the kernel checks the address. If system calls are
 * forbidden here nothing is written, which leaves the slot as it was.
 */
static void slot_replace(void *arg)
{
	struct slot_access *a = arg;
	uint64_t seen = 0;
	struct iovec local = { &seen, sizeof(seen) };
	struct iovec remote = { (void *)a->address, sizeof(seen) };

	if (syscall(SYS_process_vm_readv, probe.pid, &local, 1L, &remote, 1L, 0L) != sizeof(seen) ||
	    seen != a->expected)
		return;
	*(uint64_t *)a->address = a->value;
}

static void frame_restore(struct frame *f)
{
	struct slot_access a = { f->slot, TRAMPOLINE, f->ret };

	if (owns_slot(f))
		slow_call(slot_replace, &a);
}

static void frames_abandon_top(struct thread *t)
{
	frame_restore(t->top);
	frames_leave_top(t);
}

void frames_leave_abandoned(struct thread *t, uint64_t *slot)
{
	/* A tail call: the function's own return slot still leads to the trampoline. Nothing was left. */
	if (t->top->slot == (uint64_t)slot && t->top->ret && *slot == TRAMPOLINE)
		return;

	/* The slot of the new call holds a fresh return address; a frame that had it is gone. */
	while (t->top->slot <= (uint64_t)slot) {
		if (t->top->slot == (uint64_t)slot)
			frames_leave_top(t);
		else
			frames_abandon_top(t);
	}
	t->cyg_skipped = 0;
}

void frames_leave_until(struct thread *t, uint64_t fn)
{
	struct frame *f = t->top;

	while (f > t->frames && record_addr(f->data) != (fn & RECORD_ADDR_MASK))
		f--;
	if (f == t->frames)
		return; /* its enter was never seen */
	while (t->top > f)
		frames_abandon_top(t);
	frames_leave_top(t);
}

/*
 * A stack may be run by another thread than the one that entered the frame (coroutines that migrate). The frame
 * stays in its array, where its owner will find it abandoned; what counts is where it goes on.
 */
static uint64_t return_address_elsewhere(uint64_t slot)
{
	for (struct thread *t = atomic_load(&probe_threads); t; t = t->next) {
		for (struct frame *f = t->top; f > t->frames; f--) {
			if (f->slot == slot && f->ret != TRAMPOLINE)
				return f->ret;
		}
	}
	/* A slot that we replaced and know nothing of: the program has overwritten our memory. */
	__builtin_trap();
}

uint64_t frames_leave_slot(struct thread *t, uint64_t slot)
{
	struct frame *f = t->top;

	while (f > t->frames && f->slot != slot)
		f--;
	if (unlikely(f == t->frames))
		return return_address_elsewhere(slot);
	while (t->top > f)
		frames_abandon_top(t);

	uint64_t ret = f->ret;

	frames_leave_top(t);
	return ret;
}

void frames_unhook(struct thread *t)
{
	for (struct frame *f = t->top; f > t->frames; f--)
		frame_restore(f);
}
