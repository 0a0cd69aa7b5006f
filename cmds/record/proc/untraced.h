/*
 * Changes calls that make children without a tracer (CLONE_UNTRACED): such children would have the
 * filter, and nothing would answer it.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_UNTRACED_H
#define UTRAIL_CMDS_RECORD_PROC_UNTRACED_H

#include <sys/ptrace.h>
#include <sys/types.h>

/* Remove CLONE_UNTRACED from the clone(2) or clone3(2) of @info, before which @tid is stopped. */
void untraced_take_out(pid_t tid, const struct __ptrace_syscall_info *info);

#endif
