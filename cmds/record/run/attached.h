/* `record -p`: records running processes, from putting the probe into them to taking it out. */
#ifndef UTRAIL_CMDS_RECORD_RUN_ATTACHED_H
#define UTRAIL_CMDS_RECORD_RUN_ATTACHED_H

#include "cmds/record/run/run.h"

/*
 * Find the processes that -p names, check that they can be attached to, and put the first one's
 * program into @run->program. Returns 0, -ERR_USAGE or negative errno.
 */
int attached_find(struct run *run, struct uft_err *err);

/*
 * Find patches in the files that the processes have now, so that none of their threads waits for
 * that. Call it after recorder_open().
 */
void attached_find_patches(struct run *run, struct recorder *rec);

/*
 * After recorder_open(): attach to all processes, and record until they have ended, a signal asks
 * for the end, --for is over, or --max-size is reached. Then leave them and their children. If one
 * process cannot be attached to, all are left. Changes that stay in a process are reported.
 */
int attached_run(struct run *run, struct recorder *rec, struct uft_err *err);

void attached_deinit(struct run *run);

#endif
