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
 * Find the places to patch in the files that the processes have mapped. Call this function after
 * recorder_open() and before attached_run(). After the probe has been attached, such a search would
 * make threads of the processes wait.
 */
void attached_find_patches(struct run *run, struct recorder *rec);

/*
 * Attach to all processes, and record. The recording ends when all processes have ended, the time
 * of --for is over, or --max-size is reached. A signal, a `finish` action or `utrail control` may
 * end the recording earlier. At the end, and after an error, the function restores the former state
 * of the processes, and of those children that have reported themselves. Changes that stay in a
 * process are reported. Call this function after recorder_open().
 */
int attached_run(struct run *run, struct recorder *rec, struct uft_err *err);

void attached_deinit(struct run *run);

#endif
