/* Tells a probe that was just loaded which calls are open in each thread. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_HAND_OVER_H
#define UTRAIL_CMDS_RECORD_ATTACH_HAND_OVER_H

#include "cmds/terminal/msg.h"
#include "cmds/record/attach/unwind.h"

/*
 * Tell the probe the open calls of all threads, which must be stopped: @thread is made to call
 * @leave_fn, its utrail_leave(). Returns 0, or negative errno with a text when @thread did not
 * return.
 *
 * @msg: reports, with -v, the threads whose calls are unknown, which begin at depth 0
 */
int hand_over_calls(struct attached *w, struct unwinder *u, struct attached_thread *thread,
		    uint64_t leave_fn, const struct msg *msg, struct uft_err *err);

#endif
