/*
 * Calls that were already open when the probe was attached. The depth of a later call includes
 * these earlier calls, so the probe must know the earlier calls.
 */
#ifndef UTRAIL_LIBMCOUNT_EARLIER_CALLS_H
#define UTRAIL_LIBMCOUNT_EARLIER_CALLS_H

#include <stdint.h>

struct thread;

/*
 * A recorder that attaches to a running program finds the open calls in the stacks, and reports
 * these earlier calls to the probe (utils/format/probe/attach.h). When the probe sees the first
 * call of a thread, the thread gets a frame for each earlier call that is still open
 * (FRAME_UNSEEN). No ENTRY is recorded for such a frame. If the code was built with
 * -finstrument-functions, the exit hook ends the frame. In other code, the probe does not see the
 * return. The frame then ends when a new call has the same return slot, or a return slot at a
 * higher address.
 */

/*
 * COLD. Copies the struct attach_thread at @from, which has @bytes bytes. Returns 0 or a negative
 * errno.
 */
int64_t earlier_calls_note(const void *from, uint64_t bytes);

/*
 * SLOW. Pushes frames for calls of this thread that were open when the probe was attached. The
 * thread's state @t has no frames yet. A call that has returned in the meantime gets no frame.
 * Neither do the calls that were made inside of the returned call.
 */
void earlier_calls_begin(struct thread *t);

/* COLD. Forget the notes. Their memory is unmapped by undo_each(). */
void earlier_calls_drop(void);

#endif
