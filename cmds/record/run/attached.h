/* `record -p`: records running processes. Puts the probe into them, and takes it out at the end. */
#ifndef UTRAIL_CMDS_RECORD_RUN_ATTACHED_H
#define UTRAIL_CMDS_RECORD_RUN_ATTACHED_H

#include "cmds/record/run/run.h"

/*
 * Find the processes that -p names, and check that they can be attached to. @run->program gets the
 * program of the first process. Returns 0, -ERR_USAGE or a negative errno.
 */
int attached_find(struct run *run, struct uft_err *err);

/*
 * Find patches in the files that the processes have mapped now, so that no thread must wait for the
 * search later. Call it after recorder_open().
 */
void attached_find_patches(struct run *run, struct recorder *rec);

/*
 * Attach to all processes, and record. The recording ends when all processes have ended, a signal
 * asks for the end, the time of --for is over, or --max-size is reached. A `finish` action and
 * `utrail control` can end it, too. Then leave the processes, and those of their children that have
 * reported themselves. If one process cannot be attached to, all are left. Changes that stay in a
 * process are reported. Call it after recorder_open().
 */
int attached_run(struct run *run, struct recorder *rec, struct uft_err *err);

void attached_deinit(struct run *run);

#endif
