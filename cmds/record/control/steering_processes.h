/* Applies a change to each process that runs, while others are served. */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_STEERING_PROCESSES_H
#define UTRAIL_CMDS_RECORD_CONTROL_STEERING_PROCESSES_H

#include "cmds/record/control/steering.h"

/*
 * Processes that are recorded now, with NULL at the end, of the heap: while one is at work others
 * may end, but their structs stay. 0 or -ENOMEM.
 */
int steering_list_live(const struct steering *steer, struct process ***out);

/*
 * @fn is done to each process that is recorded just now and has not ended. The first error ends it,
 * with its text; that a process has ended meanwhile, or is another program now, is none.
 */
int steering_each_process(struct steering *steer,
			  int (*fn)(struct steering *steer, const struct process *p, void *arg,
				    struct uft_err *err),
			  void *arg, struct uft_err *err);

#endif
