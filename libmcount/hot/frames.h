/*
 * The frames of open calls. Frames end in order, or out of order (longjmp, exceptions, switches of
 * the stack).
 */
#ifndef UTRAIL_LIBMCOUNT_FRAMES_H
#define UTRAIL_LIBMCOUNT_FRAMES_H

#include "libmcount/hot/hot.h"
#include "libmcount/hot/planned.h"

/*
 * Writes the ENTRY records that -t held back, for all frames up to and including @f. The function
 * is not inline, because it is rarely called: -t drops most calls.
 */
void frames_write_entries(struct thread *t, struct frame *f);

/*
 * WARM. Called when a call is too deep to be recorded. With PLAN_TELLS_DEPTH, counts this call, and
 * records at most one event EVENT_ID_LIMIT_DEPTH in the innermost open call.
 */
void note_too_deep(struct thread *t);

static inline bool frames_is_cut(const struct thread *t, const struct frame *f)
{
	return t->cut == f && t->cut_ns == f->time_ns;
}

/*
 * WARM. Records the event EVENT_ID_LIMIT_DEPTH at @time_ns, in the innermost call whose ENTRY has
 * been written.
 */
void frames_mark_depth(struct thread *t, uint64_t time_ns);

/*
 * SLOW in effect (a few system calls), but callable from hot functions. Ends the frames whose slots
 * are below @address: the running code has left these frames without a return. Each frame gets its
 * EXIT, and its slot gets the true return address back.
 */
void frames_leave_inside(struct thread *t, uint64_t address);

/*
 * Called when a function with return slot @slot begins. Ends the frames below @slot as
 * frames_leave_inside() does. If a tail call has entered the function, the earlier frames with slot
 * @slot stay open. If no tail call has entered the function, frames_make_way() ends the earlier
 * frames with slot @slot.
 */
void frames_make_way(struct thread *t, uint64_t *slot);

/*
 * Called when function @fn returns (-finstrument-functions). Ends the innermost frame of @fn, and
 * the abandoned frames inside of that frame.
 */
void frames_leave_until(struct thread *t, uint64_t fn);

/*
 * Ends the frame with return slot @slot, and the abandoned frames inside of that frame. Used for
 * functions that announce their return (XRay). Does nothing if no frame has @slot.
 */
void frames_leave_announced(struct thread *t, uint64_t slot, const struct arch_regs *regs);

/*
 * Finds the innermost frame that has FRAME_EXPLICIT and the value @ret in frame.ret. Ends this
 * frame and all frames inside of it. Does nothing if there is no such frame.
 */
void frames_leave_explicit(struct thread *t, uint64_t ret);

/*
 * Called when the call with return slot @slot returns with the registers @regs. Ends the frame of
 * this call, and all frames inside of that frame. Returns the address at which the program
 * continues.
 */
uint64_t frames_leave_slot(struct thread *t, uint64_t slot, const struct arch_regs *regs);

/*
 * Returns the true return address for @slot: from an open frame of any thread, or from the table of
 * old returns. Records nothing.
 */
uint64_t frames_find_return(uint64_t slot);

/*
 * Called when a tail call has led to a function that must return to its caller, and not to the
 * trampoline. Ends the innermost frames whose return slot is @slot, and puts the true return
 * address back into @slot.
 */
void frames_end_tail_call(struct thread *t, uint64_t *slot);

/*
 * COLD. Both functions put the true return addresses of the open frames of @t back into the slots
 * of these frames. frames_unhook() is called when @t ends or is no longer traced, and first
 * calls frames_close_estimated(). frames_restore() is called in a forked child, and writes no EXIT:
 * the calls of these frames continue in the parent.
 */
void frames_unhook(struct thread *t);
void frames_restore(struct thread *t);

/*
 * Called when @t ends or is no longer traced, and when the process ends.
 *
 * - Without PLAN_ESTIMATE, the function ends the innermost frame repeatedly, as long as this frame
 *   has FRAME_KEPT. The EXITs get an estimated time.
 * - With PLAN_ESTIMATE, the function ends all frames. The EXITs get the present time.
 */
void frames_close_estimated(struct thread *t);

/* Ends the innermost frame, which did not return through the trampoline. */
void frames_leave_any(struct thread *t);

static inline bool frame_is_unseen(const struct frame *f)
{
	return f->data & FRAME_UNSEEN;
}

static inline bool frame_is_kept(const struct frame *f)
{
	return (int64_t)f->ret < 0;
}

/* The address to which the call of @f returns. */
static inline uint64_t frame_return(const struct frame *f)
{
	return f->ret & ~FRAME_KEPT;
}

/*
 * WARM. Called when the innermost frame has FRAME_KEPT and a call with return slot @slot begins.
 * Ends the innermost frame repeatedly, as long as all of these conditions are true:
 *
 * - The innermost frame has FRAME_KEPT.
 * - The slot of this frame lies above @slot.
 * - The slot of this frame is unreadable, or no longer contains the frame's return address. This
 *   shows that the call of the frame has returned.
 */
void frames_leave_returned(struct thread *t, const uint64_t *slot);

/*
 * WARM. Called while probe.plain is set. Turns off the fast paths of the stubs if the innermost
 * frame has FRAME_KEPT: the hook of the next call must check whether the call of this frame has
 * returned. Turns the fast paths on if the innermost frame has no FRAME_KEPT.
 */
void frames_narrow(struct thread *t);

/* The function address that the records of @f contain. */
static inline uint64_t frame_addr(const struct frame *f)
{
	return record_addr(f->data & ~FRAME_UNSEEN);
}

/*
 * The data word of the EXIT record of @f. FRAME_UNSEEN is removed from the word, so readers cannot
 * see in the EXIT whether the call began before the recording.
 */
static inline uint64_t frame_exit(const struct frame *f)
{
	return (f->data & ~FRAME_UNSEEN) | RECORD_EXIT;
}

/* Removes all open frames of @t. */
static inline void frames_reset(struct thread *t)
{
	t->top = t->frames;
	t->written = t->frames;
}

/*
 * HOT, while t->planned is NULL. Pops the innermost frame, which ended at @now_ns. Writes the EXIT
 * of the frame, unless -t drops the call.
 */
static inline void frames_leave_top_at(struct thread *t, uint64_t now_ns)
{
	struct frame *f = t->top;

	t->top = f - 1;
	if (f > t->written) {
		if (now_ns - f->time_ns <= t->threshold_ns)
			return;
		frames_write_entries(t, f);
	}
	t->written = f - 1;

	char *at = hot_reserve(t, sizeof(struct record));

	if (likely(at))
		hot_commit(t, put_record(at, now_ns, f->data | RECORD_EXIT));
	else
		note_lost(t, 1);
}

/*
 * HOT: ends the innermost frame at the present time. The entry of this frame must have been seen.
 * Between planned_begin_estimate() and planned_end_estimate(), the frame ends at the estimated
 * time.
 *
 * @regs: registers with the return values; NULL when the frame does not end by a return
 */
static inline void frames_leave_top(struct thread *t, const struct arch_regs *regs)
{
	if (unlikely(t->planned))
		planned_leave_top(t, regs);
	else {
		if (t->top <= t->written)
			hot_be_known(t);
		frames_leave_top_at(t, hot_clock(t));
	}
}

#endif
