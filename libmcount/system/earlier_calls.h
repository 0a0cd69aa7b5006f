/*
 * Calls that were open before there was a probe: what comes inside of them has the depth that it
 * would have had.
 */
#ifndef UTRAIL_LIBMCOUNT_EARLIER_CALLS_H
#define UTRAIL_LIBMCOUNT_EARLIER_CALLS_H

#include <stdint.h>

struct thread;

/*
 * The recorder that attaches finds them in the stacks, and tells them before anything is recorded
 * (utils/format/probe/attach.h). With its first call a thread gets a frame for each of its own
 * (FRAME_UNSEEN). These have no ENTRY, and nothing of the program is changed for them, so nobody
 * sees them return. They are over when a call begins that lies further out on the stack, as frames
 * are that a longjmp(3) has left. Then they get their EXIT. So calls cost the same with them and
 * without.
 */

/* COLD. A struct attach_thread at @from, with @bytes in all: noted. 0 or a negative errno. */
int64_t earlier_calls_note(const void *from, uint64_t bytes);

/*
 * SLOW. The frames of this thread, whose state @t has none yet. Calls that have returned meanwhile
 * are left out, with all inside of them: what the recorder has said is held against the stack.
 */
void earlier_calls_begin(struct thread *t);

/* COLD. Forget the notes; their memory is given back as undo.h does it. */
void earlier_calls_drop(void);

#endif
