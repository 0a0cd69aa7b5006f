/* Decides which processes may be attached to, and says why others may not. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_TARGET_H
#define UTRAIL_CMDS_RECORD_ATTACH_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/err.h"

/*
 * Find the process that @text names, by its number or, if only one matches, by its name. Returns
 * its number, or negative errno with a text. When several match, the text lists them.
 */
pid_t target_find(const char *text, struct uft_err *err);

/*
 * Check that the probe can be put into process @pid; the process is not changed. Returns 0, or
 * negative errno with a sentence that gives the reason and a remedy. @force: accept a process with
 * filters of system calls (seccomp(2)), which may end it for the probe's calls.
 */
int target_check(pid_t pid, bool force, struct uft_err *err);

/* Find the reason, as far as possible, why ptrace(2) was refused. @ret: its negative errno */
int target_explain(pid_t pid, int ret, struct uft_err *err);

#endif
