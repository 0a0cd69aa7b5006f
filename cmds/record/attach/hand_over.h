/* Telling a probe that has just come which calls are open in each thread. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_HAND_OVER_H
#define UTRAIL_CMDS_RECORD_ATTACH_HAND_OVER_H

#include "cmds/terminal/msg.h"
#include "cmds/record/attach/unwind.h"

/*
 * All threads of @w are stopped, and @thread is made to call @leave_fn, utrail_leave(). Threads
 * whose calls are unknown begin at depth 0; with -v @msg reports that. Returns 0, or negative errno
 * with a text when @thread did not return.
 */
int hand_over_calls(struct attached *w, struct unwinder *u, struct attached_thread *thread,
		    uint64_t leave_fn, const struct msg *msg, struct uft_err *err);

#endif
