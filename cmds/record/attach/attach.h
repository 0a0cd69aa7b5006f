/* Puts the probe into a running process, and takes the probe out again. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_ATTACH_H
#define UTRAIL_CMDS_RECORD_ATTACH_ATTACH_H

#include <stdbool.h>
#include <sys/types.h>

#include "cmds/terminal/msg.h"
#include "cmds/record/plan/patches.h"
#include "utils/base/err.h"
#include "utils/format/probe/attach.h"

/*
 * @address: the address of the recorder, as in UTRAIL_SOCKET
 * @library: the file of the probe
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
 * Put the probe into process @pid, after target_check() has returned 0. Returns 0 when the process
 * is recorded. Otherwise @err has the reason, and the probe is taken out again if possible. The
 * result -ETIMEDOUT means that attach_begin() made a thread of the process call a function, and the
 * call has not returned yet. In this case the probe is not taken out.
 *
 * The probe may have connected to the recorder before the error. In this case the caller must call
 * attach_end(), which tries again to take the probe out. If the probe has not connected, and stays
 * in the process, attach_begin() prints a warning that the probe stays.
 */
int attach_begin(pid_t pid, const struct attach_how *how, struct uft_err *err);

/*
 * Take the probe out. Returns 0, or a negative errno with a text in @err. Two of the errors are:
 *
 * - -ESRCH: the process has ended or has no probe.
 * - -EBUSY: there are three possible reasons. The recorder found no thread that can call functions
 *   of the probe. Or a thread still runs code of the probe. Or the C library does not unload the
 *   probe.
 *
 * After errors other than -ESRCH the probe stays loaded, but records nothing. The text in @err says
 * that the probe stays, and that the next attach tries again to unload the probe.
 */
int attach_end(pid_t pid, const struct attach_how *how, struct uft_err *err);

/*
 * The hooks that a process must have.
 *
 * @nr_left: gets the number of hooks that could not be put in or taken out. There are two usual
 *           reasons: the code at the hook's place extends over two pages, or a thread prevented
 *           each attempt. A thread prevents the change when the thread is in this code, or will
 *           return into this code. If a hook at the end of a function must be taken out but is
 *           still there, this hook is not counted: an open call may still need the hook
 */
struct attach_patches {
	const struct process_patches *patches;
	size_t nr_left;
};

/*
 * Put hooks into a recorded process and take hooks out, as @job requires. All threads of the
 * process are stopped for a moment. Returns 0, or a negative errno with a text in @err. After an
 * error, some changes may be missing. Another call of attach_patch() makes the missing changes.
 */
int attach_patch(pid_t pid, const struct attach_how *how, struct attach_patches *job,
		 struct uft_err *err);

/*
 * Set the declared events that a recorded process records from now on. One of its threads is
 * stopped for a moment. Returns 0, or a negative errno with a text.
 */
int attach_choose(pid_t pid, const struct attach_how *how, const struct attach_choice *choices,
		  size_t nr, struct uft_err *err);

#endif
