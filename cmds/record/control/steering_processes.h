/* What a change does to each process that runs, while others are served. */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_STEERING_PROCESSES_H
#define UTRAIL_CMDS_RECORD_CONTROL_STEERING_PROCESSES_H

#include "cmds/record/control/steering.h"

/*
 * @fn is done to each process that is recorded just now and has not ended. The first error ends it, with its text; that a process has ended
 * meanwhile, or is another program now, is none.
 */
int steering_each_process(struct steering *steer,
			  int (*fn)(struct steering *steer, const struct process *p, void *arg,
				    struct uft_err *err),
			  void *arg, struct uft_err *err);

#endif
