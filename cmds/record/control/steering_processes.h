/* Functions that list or visit the recorded processes while the event loop runs. */
#ifndef UTRAIL_CMDS_RECORD_CONTROL_STEERING_PROCESSES_H
#define UTRAIL_CMDS_RECORD_CONTROL_STEERING_PROCESSES_H

#include "cmds/record/control/steering.h"

/*
 * List the recorded processes in *@out, which the caller frees. NULL ends the list. A process may
 * end later, but its struct stays valid. Returns 0 or -ENOMEM.
 */
int steering_list_live(const struct steering *steer, struct process ***out);

/*
 * Call @fn for each recorded process. The first error ends the loop, and is returned with its text.
 * It is not an error if a process has ended, or now runs another program.
 */
int steering_each_process(struct steering *steer,
			  int (*fn)(struct steering *steer, const struct process *p, void *arg,
				    struct uft_err *err),
			  void *arg, struct uft_err *err);

#endif
