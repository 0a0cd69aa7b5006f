/*
 * Finds the calls that are open in the threads of a process when recording begins. Only calls that
 * the probe would have recorded are found.
 */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_OPEN_CALLS_H
#define UTRAIL_CMDS_RECORD_ATTACH_OPEN_CALLS_H

#include "cmds/record/attach/unwind.h"
#include "utils/format/probe/attach.h"

/*
 * The modules that were searched for hooks, with the hooks of each module. A module is identified
 * by its path. The struct starts as { 0 }.
 */
struct open_calls {
	struct known_hooks *first;
};

void open_calls_deinit(struct open_calls *calls);
#define cleanup_open_calls cleanup(open_calls_deinit)

/*
 * Find the open calls of @thread, outermost first. They are calls of hooked functions, and calls of
 * library functions through the PLT. Returns the number of calls, or a negative errno with a text.
 * The caller frees *@list.
 */
int open_calls_find(struct open_calls *calls, struct unwinder *u,
		    const struct attached_thread *thread, struct attach_call **list,
		    struct uft_err *err);

#endif
