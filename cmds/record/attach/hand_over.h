/* Tells a probe that was just loaded which calls are open in each thread. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_HAND_OVER_H
#define UTRAIL_CMDS_RECORD_ATTACH_HAND_OVER_H

#include "cmds/terminal/msg.h"
#include "cmds/record/attach/unwind.h"

/*
 * Hand over the open calls: @thread is made to call @leave_fn, utrail_leave(). All threads of @w
 * must be stopped. Threads whose calls are unknown begin at depth 0; with -v @msg reports that.
 * Returns 0, or negative errno with a text when @thread did not return.
 */
int hand_over_calls(struct attached *w, struct unwinder *u, struct attached_thread *thread,
		    uint64_t leave_fn, const struct msg *msg, struct uft_err *err);

#endif
