/* Applies a change to each process that runs, while the loop is served. */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_STEERING_PROCESSES_H
#define UTRAIL_CMDS_RECORD_CONTROL_STEERING_PROCESSES_H

#include "cmds/record/control/steering.h"

/*
 * List the recorded processes in *@out, which the caller frees; NULL ends the list. A process may
 * end later, but its struct stays. Returns 0 or -ENOMEM.
 */
int steering_list_live(const struct steering *steer, struct process ***out);

/*
 * Call @fn for each recorded process. The first error ends the loop and is returned, with its text.
 * A process that has ended, or runs another program now, is no error.
 */
int steering_each_process(struct steering *steer,
			  int (*fn)(struct steering *steer, const struct process *p, void *arg,
				    struct uft_err *err),
			  void *arg, struct uft_err *err);

#endif
