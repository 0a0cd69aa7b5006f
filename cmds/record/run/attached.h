/* `record -p`: records running processes, from putting the probe into them to taking it out. */
#ifndef UTRAIL_CMDS_RECORD_RUN_ATTACHED_H
#define UTRAIL_CMDS_RECORD_RUN_ATTACHED_H

#include "cmds/record/run/run.h"

/*
 * Find the processes that -p names, check that they can be attached to, and put the first one's
 * program into @run->program. The options must apply to running processes. The processes are not
 * changed. Returns 0, -ERR_USAGE or negative errno.
 */
int attached_find(struct run *run, struct uft_err *err);

/*
 * Find patches in the files that the processes have now, so that none of their threads waits for
 * that. Call it after recorder_open().
 */
void attached_find_patches(struct run *run, struct recorder *rec);

/*
 * Attach to all processes, and record until a signal asks for the end, --for is over, --max-size is
 * reached, or they have ended. Then leave them, and the processes that they have forked. Changes
 * that stay in a process are reported. When the recorder cannot attach to one process, it leaves
 * the others again. Call it after recorder_open().
 */
int attached_run(struct run *run, struct recorder *rec, struct uft_err *err);

void attached_deinit(struct run *run);

#endif
