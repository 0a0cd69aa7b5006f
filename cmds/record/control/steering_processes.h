/* Applies a change to each process that runs, while the loop is served. */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_STEERING_PROCESSES_H
#define UTRAIL_CMDS_RECORD_CONTROL_STEERING_PROCESSES_H

#include "cmds/record/control/steering.h"

/*
 * List the processes that are recorded now, with NULL at the end, in *@out of the heap. Processes
 * on the list may end later, but their structs stay. Returns 0 or -ENOMEM.
 */
int steering_list_live(const struct steering *steer, struct process ***out);

/*
 * Call @fn for each process that is recorded now and has not ended. The first error ends the loop
 * and is returned, with its text. When a process has ended meanwhile, or runs another program now,
 * this is no error.
 */
int steering_each_process(struct steering *steer,
			  int (*fn)(struct steering *steer, const struct process *p, void *arg,
				    struct uft_err *err),
			  void *arg, struct uft_err *err);

#endif
