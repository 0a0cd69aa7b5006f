/* `record -p`: processes that run already, from putting the probe into them to taking it out. */
#ifndef UTRAIL_CMDS_RECORD_RUN_ATTACHED_H
#define UTRAIL_CMDS_RECORD_RUN_ATTACHED_H

#include "cmds/record/run/run.h"

/*
 * Find the processes that -p means, which must be such that can be attached to, and put the first
 * one's program into @run->program. @run->program. The options must be such that make sense for
 * them. Nothing is done to them. 0, -ERR_USAGE or negative errno.
 */
int attached_find(struct run *run, struct uft_err *err);

/*
 * After recorder_open(): look for patches in the files that the processes have now, so that none of
 * their threads waits for that.
 */
void attached_find_patches(struct run *run, struct recorder *rec);

/*
 * After recorder_open(): attach to all, record until a signal asks for the end, --for is over,
 * --max-size is reached, or they have ended; and leave them, and the processes that they have
 * forked. Things that stay in them are told. When one cannot be attached to, the others are left
 * again.
 */
int attached_run(struct run *run, struct recorder *rec, struct uft_err *err);

void attached_deinit(struct run *run);

#endif
