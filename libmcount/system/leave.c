/*
 * The recorder makes a thread of the program run the functions of this file when the recorder
 * attaches the probe, and when the recorder removes the probe again (doc/internals/attach.md).
 */
#include "libmcount/system/undo.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmcount/system/arena.h"
#include "libmcount/system/channel.h"
#include "libmcount/values/counters.h"
#include "libmcount/values/declared.h"
#include "libmcount/values/trace_copies.h"
#include "libmcount/hot/frames.h"
#include "libmcount/system/modules.h"
#include "libmcount/patch/patches.h"
#include "libmcount/plan/plans.h"
#include "libmcount/system/own_syscall.h"
#include "libmcount/system/session.h"
#include "libmcount/system/earlier_calls.h"
#include "utils/format/probe/attach.h"

EXPORTED int64_t utrail_attach(const char *address, uint64_t handle);
EXPORTED int64_t utrail_leave(uint64_t step, uint64_t *ranges, uint64_t nr_ranges);

#define PAGE 4096

static uint64_t own_handle;

/* --- the steps --- */

/*
 * Restores a slot that leads to the probe: stores the address that the slot would contain without
 * the probe (undo_note_slot()). If other code has changed the slot, the slot stays unchanged.
 */
static void undo_slot(struct undo *undo, void *arg)
{
	uint32_t kind = atomic_load(&undo->kind);
	bool is_protected = kind == UNDO_PROTECTED_SLOT;
	uint64_t *slot = (uint64_t *)undo->address;
	void *page = (void *)(undo->address & ~(uint64_t)(PAGE - 1));
	uint64_t ours = undo->ours;

	if (kind != UNDO_SLOT && !is_protected)
		return;
	if (is_protected && mprotect(page, PAGE, PROT_READ | PROT_WRITE) < 0)
		return;
	__atomic_compare_exchange_n(
		slot, &ours, undo->now ? __atomic_load_n(undo->now, __ATOMIC_RELAXED) : undo->value,
		false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	if (is_protected)
		mprotect(page, PAGE, PROT_READ);
}

/*
 * Puts the return addresses of all frames back. Returns the number of changed slots. Meanwhile
 * threads may return, through the trampoline or directly.
 */
static uint32_t unhook_frames(void)
{
	const uint64_t trampoline = (uint64_t)arch_return_trampoline;
	uint32_t nr = 0;

	for (struct thread *t = atomic_load(&probe_threads); t; t = t->next) {
		for (struct frame *f = t->top; f > t->frames; f--) {
			uint64_t expected = trampoline;

			if ((f->slot & FRAME_EXPLICIT) || frame_is_unseen(f) || frame_is_kept(f) ||
			    f->ret == trampoline || (probe.plan.flags & PLAN_ESTIMATE) ||
			    !own_is_readable(f->slot))
				continue;
			nr += __atomic_compare_exchange_n((uint64_t *)f->slot, &expected, f->ret,
							  false, __ATOMIC_SEQ_CST,
							  __ATOMIC_SEQ_CST);
		}
	}
	return nr;
}

struct ranges {
	uint64_t *to;
	uint64_t nr;
	uint64_t room;
};

static void collect_code(struct undo *undo, void *arg)
{
	struct ranges *ranges = arg;

	if (atomic_load(&undo->kind) != UNDO_CODE)
		return;
	if (ranges->nr < ranges->room) {
		ranges->to[2 * ranges->nr] = undo->address;
		ranges->to[2 * ranges->nr + 1] = undo->address + undo->value;
	}
	ranges->nr++;
}

static int64_t withdraw(uint64_t *ranges, uint64_t room)
{
	struct ranges code = { ranges, 0, room };

	probe_stop();
	session_end_wait();
	probe.ready = false;
	patches_pass();
	undo_each(undo_slot, NULL);
	thread_unregister();
	unhook_frames();
	undo_each(collect_code, &code);
	return code.nr;
}

/*
 * Restores the slots that lead to the trampoline. Returns the sum of three numbers:
 *
 * - the number of restored slots
 * - the number of threads in hooks
 * - the number of threads between undo_enter() and undo_exit()
 */
static int64_t count_inside(void)
{
	int64_t nr = unhook_frames() + undo_inside();

	for (struct thread *t = atomic_load(&probe_threads); t; t = t->next)
		nr += atomic_load(&t->in_use) && t->busy;
	return nr;
}

/* --- hooks that are to be taken out --- */

/* A hook records an address in the first FUNCTION_BEGIN bytes of the traced function. */
#define FUNCTION_BEGIN 16

static void clear_open(const struct thread *t, uint64_t *funcs, uint64_t nr)
{
	for (const struct frame *f = t->top; f > t->frames; f--) {
		if (!(f->slot & FRAME_EXPLICIT))
			continue;
		for (uint64_t i = 0; i < nr; i++) {
			if (record_addr(f->data) - funcs[i] < FUNCTION_BEGIN)
				funcs[i] = 0;
		}
	}
}

/*
 * Sets to 0 each entry of @funcs whose function has open calls: calls that have not returned yet.
 * The recorder has stopped all other threads. Returns -EAGAIN when a thread is in a hook, or
 * between undo_enter() and undo_exit(), because open calls of such a thread may be invisible.
 */
static int64_t find_open(uint64_t *funcs, uint64_t nr)
{
	/* The probe cannot find open calls on stacks that the program has made. */
	if (!probe.ready || (probe.plan.flags & PLAN_STACKS))
		return -EINVAL;
	if (undo_inside())
		return -EAGAIN;
	for (struct thread *t = atomic_load(&probe_threads); t; t = t->next) {
		if (!atomic_load(&t->in_use))
			continue;
		if (t->busy)
			return -EAGAIN;
		clear_open(t, funcs, nr);
		if (t->aside)
			clear_open(t->aside, funcs, nr);
	}
	return 0;
}

static void undo_memory(struct undo *undo, void *arg)
{
	uint32_t kind = atomic_load(&undo->kind);

	if (kind == UNDO_MEMORY || kind == UNDO_CODE)
		own_syscall(SYS_munmap, undo->address, undo->value);
}

/* Frees the probe's memory. No other thread runs code of the probe any more. */
static int64_t give_back(void)
{
	counters_drop();
	undo_each(undo_memory, NULL);
	undo_forget();
	atomic_store(&probe_threads, NULL);
	/*
	 * session_end() will run in this thread. NULL keeps session_end() from reading the thread's
	 * state, which is unmapped now.
	 */
	self = NULL;
	patches_forget();
	modules_drop();
	plans_drop();
	arena_drop();
	earlier_calls_drop();
	if (probe.control)
		own_syscall(SYS_munmap, probe.control, sizeof(*probe.control));
	probe.control = NULL;
	return 0;
}

static int64_t state(void)
{
	if (!probe.address[0])
		return ATTACH_STATE_NONE;
	if (channel_has_recorder())
		return ATTACH_STATE_RECORDED;
	return probe.is_attached ? ATTACH_STATE_LEFT : ATTACH_STATE_PRELOADED;
}

int64_t utrail_leave(uint64_t step, uint64_t *ranges, uint64_t nr_ranges)
{
	switch (step) {
	case ATTACH_STATE:
		return state();
	case ATTACH_WITHDRAW:
		return withdraw(ranges, nr_ranges);
	case ATTACH_COUNT:
		return count_inside();
	case ATTACH_GIVE_BACK:
		return give_back();
	case ATTACH_HANDLE:
		return own_handle;
	case ATTACH_CHANGES:
		return patches_changes((const struct attach_change **)ranges);
	case ATTACH_CHANGED:
		return patches_changed();
	case ATTACH_OPEN_CALLS:
		return session_is_waiting() ? earlier_calls_note(ranges, nr_ranges) : -EINVAL;
	case ATTACH_ADOPT:
		return probe.ready ? plans_add_patches(ranges, nr_ranges) : -EINVAL;
	case ATTACH_CODES:
		return patches_codes(ranges, nr_ranges);
	case ATTACH_OPEN_ANNOUNCED:
		return find_open(ranges, nr_ranges);
	case ATTACH_CHOOSE:
		return probe.ready
			       ? declared_choose((const struct attach_choice *)ranges, nr_ranges)
			       : -EINVAL;
	case ATTACH_CHOSEN:
		return declared_chosen();
	case ATTACH_DOORS_OPEN:
		return trace_copies_open();
	case ATTACH_DOORS_CLOSE:
		return trace_copies_close();
	case ATTACH_BEGIN:
		if (!session_is_waiting())
			return -EINVAL;
		session_go();
		return 0;
	}
	return -EINVAL;
}

int64_t utrail_attach(const char *address, uint64_t handle)
{
	int saved = errno;

	if (probe.address[0])
		return ATTACH_BUSY;
	/*
	 * If this recorder is killed, another recorder may try to unload the probe. undo_enter()
	 * prevents the unloading until undo_exit().
	 */
	undo_enter();
	own_handle = handle;
	probe.is_attached = true;

	int64_t ret = session_attach(address);

	undo_exit();
	errno = saved;
	return ret;
}
