/*
 * Finds calls that are open in the threads of a process when recording begins in it: those that
 * would have been seen.
 */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_OPEN_CALLS_H
#define UTRAIL_CMDS_RECORD_ATTACH_OPEN_CALLS_H

#include "cmds/record/attach/unwind.h"
#include "utils/format/probe/attach.h"

/* The modules that were looked at, by path; starts as { 0 }. */
struct open_calls {
	struct known_hooks *first;
};

void open_calls_deinit(struct open_calls *calls);
#define cleanup_open_calls cleanup(open_calls_deinit)

/*
 * The calls that are open in @thread of functions that call a hook where they begin, and of library
 * functions through the PLT; outermost first, for the caller to free. Returns their number, or
 * negative errno with a text.
 */
int open_calls_find(struct open_calls *calls, struct unwinder *u,
		    const struct attached_thread *thread, struct attach_call **list,
		    struct uft_err *err);

#endif
