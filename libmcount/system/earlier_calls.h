/*
 * Calls that were open before there was a probe: later calls inside of them get their true depth.
 */
#ifndef UTRAIL_LIBMCOUNT_EARLIER_CALLS_H
#define UTRAIL_LIBMCOUNT_EARLIER_CALLS_H

#include <stdint.h>

struct thread;

/*
 * A recorder that attaches finds such calls in the stacks, and tells the probe before recording
 * begins (utils/format/probe/attach.h). At its first call a thread gets a frame for each of its own
 * open calls (FRAME_UNSEEN). These frames have no ENTRY, and no return address is replaced for
 * them, so their returns are not seen. They end, and get their EXIT, when a call begins further out
 * on the stack, like frames that a longjmp(3) has left. So they add nothing to the cost of a call.
 */

/* COLD. Note a struct attach_thread at @from, with @bytes in all. Returns 0 or a negative errno. */
int64_t earlier_calls_note(const void *from, uint64_t bytes);

/*
 * SLOW. Push the frames of this thread's earlier calls; its state @t has no frames yet. The
 * recorder's list is compared with the stack: calls that have returned are left out, with all calls
 * inside of them.
 */
void earlier_calls_begin(struct thread *t);

/* COLD. Forget the notes; undo.h returns their memory. */
void earlier_calls_drop(void);

#endif
