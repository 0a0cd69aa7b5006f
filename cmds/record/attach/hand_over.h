/*
 * Passes the open calls of all threads to a probe that was just loaded. An open call is a function
 * call that has not returned yet.
 */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_HAND_OVER_H
#define UTRAIL_CMDS_RECORD_ATTACH_HAND_OVER_H

#include "cmds/terminal/msg.h"
#include "cmds/record/attach/unwind.h"

/*
 * Pass the open calls of all threads to the probe. All threads must be stopped. @thread is made to
 * call @leave_fn, which is the address of utrail_leave(). Returns 0. Returns a negative errno, and
 * sets @err, if the recorder cannot write to the memory of the process, or if @thread cannot
 * complete a call of utrail_leave() (attached_call()).
 *
 * @msg: with -v, gets a message about a thread if its open calls cannot be found, or if the probe
 *       has no room for these calls. The recorded calls of this thread then begin at depth 0
 */
int hand_over_calls(struct attached *w, struct unwinder *u, struct attached_thread *thread,
		    uint64_t leave_fn, const struct msg *msg, struct uft_err *err);

#endif
