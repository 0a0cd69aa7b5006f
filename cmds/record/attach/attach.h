/* Putting the probe into a process that runs, and taking it out. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_ATTACH_H
#define UTRAIL_CMDS_RECORD_ATTACH_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/terminal/msg.h"
#include "cmds/record/plan/patches.h"
#include "utils/base/err.h"
#include "utils/format/probe/attach.h"

/*
 * @address: of the recorder, as in UTRAIL_SOCKET
 * @library: the probe's file
 * @msg: what -v is to say goes there
 * @wait: called while the process is at work: it speaks with the recorder then. See struct
 *        attached.
 */
struct attach_how {
	const char *address;
	const char *library;
	const struct msg *msg;
	void (*wait)(void *arg);
	void *wait_arg;
};

/*
 * Put the probe into process @pid, which target_check() has nothing against. When this returns 0
 * the process is recorded; else it is as it was, and the text says why.
 */
int attach_begin(pid_t pid, const struct attach_how *how, struct uft_err *err);

/*
 * Take it out of it. -ESRCH when it has ended. -EBUSY: nothing of the program leads to the probe
 * any more, but there is a thread that is within it, so that it could not be unloaded; the next
 * attach will try again.
 */
int attach_end(pid_t pid, const struct attach_how *how, struct uft_err *err);

/*
 * The hooks that a process is to have. @nr_left: the number of places that stay as they are, since
 * threads were in them whenever it was looked, or since they lie in two pages
 */
struct attach_patches {
	const struct process_patches *patches;
	size_t nr_left;
};

/*
 * Put hooks into a process that is recorded, however that began, and take others out: what @job
 * says, and nothing else. All its threads are stopped for that moment. 0 or negative errno with a
 * text, and then nothing or some of it is done; the next call goes on from there.
 */
int attach_patch(pid_t pid, const struct attach_how *how, struct attach_patches *job,
		 struct uft_err *err);

/*
 * Tell a process that is recorded, however that began, what is said of events that it may have
 * declared: which go to the recording, from now on. A thread of it is stopped for that moment. 0 or
 * negative errno with a text; warnings that were told stay told.
 */
int attach_choose(pid_t pid, const struct attach_how *how, const struct attach_choice *choices,
		  size_t nr, struct uft_err *err);

#endif
