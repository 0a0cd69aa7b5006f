/* Puts the probe into a running process, and takes it out. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_ATTACH_H
#define UTRAIL_CMDS_RECORD_ATTACH_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/terminal/msg.h"
#include "cmds/record/plan/patches.h"
#include "utils/base/err.h"
#include "utils/format/probe/attach.h"

/*
 * @address: the recorder's address, as in UTRAIL_SOCKET
 * @library: the probe's file
 * @msg: for messages of -v
 * @wait: see struct attached
 */
struct attach_how {
	const char *address;
	const char *library;
	const struct msg *msg;
	void (*wait)(void *arg);
	void *wait_arg;
};

/*
 * Put the probe into process @pid, for which target_check() returned 0. After the result 0 the
 * process is recorded. Otherwise it is as before, and @err tells the reason.
 */
int attach_begin(pid_t pid, const struct attach_how *how, struct uft_err *err);

/*
 * Take the probe out. Returns -ESRCH when the process has ended, -EBUSY when a thread is still
 * inside of the probe. After -EBUSY nothing leads to the probe any more, and the next attach
 * unloads it.
 */
int attach_end(pid_t pid, const struct attach_how *how, struct uft_err *err);

/*
 * The hooks that a process must have.
 *
 * @nr_left: result: sites that stay unchanged: threads were always in them, or they lie across two
 *           pages
 */
struct attach_patches {
	const struct process_patches *patches;
	size_t nr_left;
};

/*
 * Put hooks into a recorded process and take hooks out, as @job says. All threads of the process
 * are stopped for a moment. Returns 0, or negative errno with a text. After an error, the next call
 * does the rest.
 */
int attach_patch(pid_t pid, const struct attach_how *how, struct attach_patches *job,
		 struct uft_err *err);

/*
 * Tell a recorded process which declared events to record from now on. One of its threads is
 * stopped for a moment. Returns 0, or negative errno with a text.
 */
int attach_choose(pid_t pid, const struct attach_how *how, const struct attach_choice *choices,
		  size_t nr, struct uft_err *err);

#endif
