/* Putting the probe into a process that runs, and taking it out. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_ATTACH_H
#define UTRAIL_CMDS_RECORD_ATTACH_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/msg.h"
#include "utils/base/err.h"

/*
 * @address: of the recorder, as in UTRAIL_SOCKET
 * @library: the probe's file
 * @msg: what -v is to say goes there
 * @wait: called while the process is at work: it speaks with the recorder then. See struct world.
 */
struct attach_how {
	const char *address;
	const char *library;
	const struct msg *msg;
	void (*wait)(void *arg);
	void *wait_arg;
};

/*
 * Put the probe into process @pid, which target_check() has nothing against. When this returns 0 the process is recorded; else it is as it was,
 * and the text says why.
 */
int attach_begin(pid_t pid, const struct attach_how *how, struct uft_err *err);

/*
 * Take it out of it. -ESRCH when it has ended. -EBUSY: nothing of the program leads to the probe any more, but there is a thread that is within
 * it, so that it could not be unloaded; the next attach will try again.
 */
int attach_end(pid_t pid, const struct attach_how *how, struct uft_err *err);

#endif
