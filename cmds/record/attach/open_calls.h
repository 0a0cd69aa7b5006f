/*
 * Finds the calls that are open in a process' threads when recording begins, as far as the probe
 * would have seen them.
 */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_OPEN_CALLS_H
#define UTRAIL_CMDS_RECORD_ATTACH_OPEN_CALLS_H

#include "cmds/record/attach/unwind.h"
#include "utils/format/probe/attach.h"

/* The modules that were searched for hooks, by path. Starts as { 0 }. */
struct open_calls {
	struct known_hooks *first;
};

void open_calls_deinit(struct open_calls *calls);
#define cleanup_open_calls cleanup(open_calls_deinit)

/*
 * Find the open calls in @thread, outermost first: of hooked functions, and of library functions
 * through the PLT. Returns their number, or negative errno with a text. The caller frees the list.
 */
int open_calls_find(struct open_calls *calls, struct unwinder *u,
		    const struct attached_thread *thread, struct attach_call **list,
		    struct uft_err *err);

#endif
