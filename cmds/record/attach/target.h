/* Decides which processes may be attached to, and says why others may not. */
#ifndef UTRAIL_CMDS_RECORD_ATTACH_TARGET_H
#define UTRAIL_CMDS_RECORD_ATTACH_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

#include "utils/base/err.h"

/*
 * The process that @text names: by its number, or by what it is called, if only one is. Negative
 * errno with a text that lists the others, if there are some.
 */
pid_t target_find(const char *text, struct uft_err *err);

/*
 * Check that process @pid is one that the probe can be put into; nothing is done to it. Returns 0,
 * or negative errno with a sentence that says why not, and what can be done. @force: also where it
 * is confined by filters of system calls (seccomp(2)), which may end it for the probe's calls.
 */
int target_check(pid_t pid, bool force, struct uft_err *err);

/* ptrace(2) was refused: why, as far as that can be known. @ret: negative errno. */
int target_explain(pid_t pid, int ret, struct uft_err *err);

#endif
