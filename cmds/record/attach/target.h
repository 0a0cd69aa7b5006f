/* Decides whether a process may be attached to, and explains a refusal. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_TARGET_H
#define UTRAIL_CMDS_RECORD_ATTACH_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/err.h"

/*
 * Find the process whose number or name is @text. Returns its number, or a negative errno with a
 * text. If several processes have the name, the text lists them.
 */
pid_t target_find(const char *text, struct uft_err *err);

/*
 * Check whether the probe can be put into process @pid. The process is not changed. Returns 0, or a
 * negative errno when the probe cannot be put into the process. @err then tells the reason and a
 * remedy.
 *
 * @force: accept a process that has a filter of system calls (seccomp(2)), even if the filter may
 *         end the process because of the probe's system calls
 */
int target_check(pid_t pid, bool force, struct uft_err *err);

/*
 * Find the likely reason why ptrace(2) was refused, for the text in @err. Returns a negative errno.
 *
 * @ret: the negative errno of ptrace(2)
 */
int target_explain(pid_t pid, int ret, struct uft_err *err);

#endif
