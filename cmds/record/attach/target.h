/* Decides which processes may be attached to, and says why others may not. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_TARGET_H
#define UTRAIL_CMDS_RECORD_ATTACH_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/err.h"

/*
 * Returns the number of the process that @text names by its number, or by its name. Returns
 * negative errno with a text, which lists the processes when several have the name.
 */
pid_t target_find(const char *text, struct uft_err *err);

/*
 * Check whether the probe can be put into process @pid, which is not changed. Returns 0, or
 * negative errno with a sentence on the reason and a remedy.
 *
 * @force: accept a process that a filter of system calls (seccomp(2)) may end for the probe's calls
 */
int target_check(pid_t pid, bool force, struct uft_err *err);

/* Find the reason, as far as possible, why ptrace(2) was refused. @ret: its negative errno */
int target_explain(pid_t pid, int ret, struct uft_err *err);

#endif
