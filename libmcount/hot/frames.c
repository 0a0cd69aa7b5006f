/* Ends open frames that are not left in the usual order (see frames.h). */
#include "libmcount/hot/frames.h"

#include "libmcount/hot/old_returns.h"
#include "libmcount/system/own_syscall.h"
#include "libmcount/hot/state.h"
#include "utils/format/event_ids.h"

#define PAGE	   4096UL
#define MOVED_MAX  1024UL
#define TRAMPOLINE ((uint64_t)arch_return_trampoline)

void frames_mark_depth(struct thread *t, uint64_t time_ns)
{
	char *at = hot_reserve(t, sizeof(struct record));

	if (likely(at))
		hot_commit(t, put_record(at, time_ns,
					 record_data(RECORD_EVENT, 0, EVENT_ID_LIMIT_DEPTH)));
	else
		note_lost(t, 1);
}

static bool is_top_written(struct thread *t)
{
	return t->planned ? planned_is_top_written(t) : t->written == t->top;
}

void note_too_deep(struct thread *t)
{
	struct ring *r = t->ring;

	if (!r || !(probe.plan.flags & PLAN_TELLS_DEPTH))
		return;
	add_alone(&r->too_deep, 1);
	if (frames_is_cut(t, t->top))
		return;
	t->cut = t->top;
	t->cut_ns = t->top->time_ns;
	if (is_top_written(t))
		frames_mark_depth(t, hot_clock(t));
}

void frames_write_entries(struct thread *t, struct frame *f)
{
	for (struct frame *g = t->written + 1; g <= f; g++) {
		char *at = hot_reserve(t, sizeof(struct record));

		if (likely(at))
			hot_commit(t, put_record(at, g->time_ns, g->data));
		else
			note_lost(t, 1);
		t->written = g;
		if (unlikely(frames_is_cut(t, g)))
			frames_mark_depth(t, g->time_ns);
	}
}

/*
 * True when the hook that pushed @f has put the trampoline's address into the slot of @f. If a tail
 * call entered the function of @f, the frame of the caller has the same slot as @f. In this case
 * the hook of the caller has put the trampoline's address into the slot, so the result is false.
 */
static bool owns_slot(const struct frame *f)
{
	return !(f->slot & FRAME_EXPLICIT) && !frame_is_unseen(f) && !frame_is_kept(f) &&
	       f->ret != TRAMPOLINE && !(probe.plan.flags & PLAN_ESTIMATE);
}

/* Puts the return address of frame @arg back into its slot. The stack may be unmapped by now. */
static void put_return_back(void *arg)
{
	const struct frame *f = arg;
	uint64_t *slot = (uint64_t *)f->slot;

	if (own_is_readable(f->slot) && *slot == TRAMPOLINE)
		*slot = f->ret;
}

static void frame_restore(struct frame *f)
{
	if (!owns_slot(f))
		return;
	old_returns_put(f->slot, f->ret);
	slow_call(put_return_back, f);
}

/*
 * Ends the innermost frame, which has FRAME_KEPT, at an estimated time (see
 * planned_begin_estimate()).
 */
static void leave_kept(struct thread *t)
{
	uint64_t last_ns = t->last_ns;

	if (t->planned)
		planned_leave_kept(t);
	else
		frames_leave_top_at(t, last_ns + (hot_clock(t) - last_ns) / 2);
}

void frames_leave_any(struct thread *t)
{
	if (frame_is_kept(t->top)) {
		leave_kept(t);
		return;
	}
	if (!frame_is_unseen(t->top)) {
		frames_leave_top(t, NULL);
		return;
	}
	if (t->planned) {
		planned_leave_unseen(t);
		return;
	}

	char *at = hot_reserve(t, sizeof(struct record));

	if (likely(at))
		hot_commit(t, put_record(at, hot_clock(t), frame_exit(t->top)));
	else
		note_lost(t, 1);
	t->top--;
	t->written = t->top;
}

static void frames_abandon_top(struct thread *t)
{
	frame_restore(t->top);
	frames_leave_any(t);
}

void frames_leave_inside(struct thread *t, uint64_t address)
{
	while (t->top->slot < address && t->top > t->frames)
		frames_abandon_top(t);
	cyg_forget(t);
}

/*
 * True when the slot of @f has another value than the return address of @f, or is unreadable. If
 * the slot of @f is in the page of @slot, the slot of @f is known to be readable. If the slot is in
 * another page, the function first checks that the slot is readable, because the stack of a
 * coroutine may be unmapped.
 *
 * @slot: the return slot of the running call
 */
static bool holds_other(const struct frame *f, const uint64_t *slot)
{
	bool is_near = (f->slot ^ (uint64_t)slot) < PAGE;
	bool is_there = is_near || own_is_readable(f->slot);

	return !is_there || *(const uint64_t *)f->slot != frame_return(f);
}

void frames_leave_returned(struct thread *t, const uint64_t *slot)
{
	while (frame_is_kept(t->top) && t->top->slot > (uint64_t)slot && holds_other(t->top, slot))
		frames_leave_any(t);
}

void frames_narrow(struct thread *t)
{
	t->is_narrow = frame_is_kept(t->top);
	state_begin(t);
}

void frames_make_way(struct thread *t, uint64_t *slot)
{
	bool estimates = probe.plan.flags & PLAN_ESTIMATE;

	if (estimates)
		planned_begin_estimate(t);
	frames_leave_inside(t, (uint64_t)slot);
	/*
	 * If @slot still contains the trampoline's address, a tail call has entered the function
	 * that begins now, and the frames with @slot stay open. If @slot contains another address,
	 * a new call has reused the slot, and the old frames with @slot have ended.
	 */
	while (t->top->slot == (uint64_t)slot && !(t->top->ret && *slot == TRAMPOLINE))
		frames_leave_any(t);
	if (estimates)
		planned_end_estimate(t);
}

void frames_leave_until(struct thread *t, uint64_t fn)
{
	struct frame *f = t->top;

	while (f > t->frames && frame_addr(f) != (fn & RECORD_ADDR_MASK))
		f--;
	if (f == t->frames)
		return; /* the probe has not seen the entry of the call */
	while (t->top > f)
		frames_abandon_top(t);
	frames_leave_any(t);
}

void frames_leave_announced(struct thread *t, uint64_t slot, const struct arch_regs *regs)
{
	uint64_t id = slot | FRAME_EXPLICIT;
	struct frame *f = t->top;

	while (f > t->frames && f->slot < id)
		f--;
	if (f == t->frames || f->slot != id)
		return;
	while (t->top > f)
		frames_abandon_top(t);
	frames_leave_top(t, regs);
}

void frames_leave_explicit(struct thread *t, uint64_t ret)
{
	struct frame *f = t->top;

	while (f > t->frames && (f->ret != ret || !(f->slot & FRAME_EXPLICIT)))
		f--;
	if (f == t->frames)
		return;
	while (t->top > f)
		frames_abandon_top(t);
	frames_leave_any(t);
}

/*
 * Finds the return address for @slot when no open frame of this thread has this slot. There are two
 * possible reasons:
 *
 * - The call belongs to a coroutine. Another thread has pushed the frame of the call, and the
 *   coroutine has moved to this thread since then.
 * - The probe has abandoned the frame (old_returns.h).
 */
static uint64_t look_for_return(uint64_t slot)
{
	for (struct thread *t = atomic_load(&probe_threads); t; t = t->next) {
		for (struct frame *f = t->top; f > t->frames; f--) {
			if (f->slot == slot && owns_slot(f))
				return f->ret;
		}
	}

	return old_returns_get(slot);
}

uint64_t frames_find_return(uint64_t slot)
{
	uint64_t ret = look_for_return(slot);

	/*
	 * If @ret is 0, the return address for @slot is lost. Either the program has overwritten
	 * the probe's memory, or entries of other slots have replaced the entry of @slot in the
	 * table of old returns.
	 */
	if (!ret)
		__builtin_trap();
	return ret;
}

void frames_end_tail_call(struct thread *t, uint64_t *slot)
{
	while (t->top->slot == (uint64_t)slot) {
		if (owns_slot(t->top))
			*slot = t->top->ret;
		frames_leave_any(t);
	}
}

/*
 * Finds the frame of a function that pops its own arguments. Such a function has moved its return
 * address to @slot, so the slot of the function's frame is near @slot. Frames above that frame may
 * have slots far from @slot, for example after a longjmp() out of the functions of these frames.
 * Returns NULL when owns_slot() is false for each frame whose slot is near @slot.
 */
static struct frame *find_moved(const struct thread *t, uint64_t slot)
{
	struct frame *moved = NULL;

	for (struct frame *f = t->top; f > t->frames; f--) {
		bool is_near = f->slot - slot + MOVED_MAX < 2 * MOVED_MAX;

		if (moved && (!is_near || f->slot > slot))
			break;
		if (!is_near || !owns_slot(f))
			continue;
		moved = f;
		if (f->slot > slot)
			break;
	}
	return moved;
}

uint64_t frames_leave_slot(struct thread *t, uint64_t slot, const struct arch_regs *regs)
{
	struct frame *f = t->top;

	while (f > t->frames && (f->slot != slot || frame_is_unseen(f) || frame_is_kept(f)))
		f--;
	if (unlikely(f == t->frames)) {
		uint64_t ret = look_for_return(slot);

		f = ret ? NULL : find_moved(t, slot);
		if (!f)
			return ret ? ret : frames_find_return(slot);
	}
	while (t->top > f)
		frames_abandon_top(t);

	uint64_t ret = f->ret;

	frames_leave_top(t, regs);
	return ret;
}

void frames_restore(struct thread *t)
{
	for (struct frame *f = t->top; f > t->frames; f--)
		frame_restore(f);
}

void frames_unhook(struct thread *t)
{
	frames_close_estimated(t);
	frames_restore(t);
}

void frames_close_estimated(struct thread *t)
{
	while (t->top > t->frames && ((probe.plan.flags & PLAN_ESTIMATE) || frame_is_kept(t->top)))
		frames_leave_any(t);
}
