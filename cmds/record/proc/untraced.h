/*
 * Changes system calls that make children without a tracer (CLONE_UNTRACED). Such a child would
 * inherit the seccomp filter. Without a tracer, all system calls that the filter reports would fail
 * in the child.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_UNTRACED_H
#define UTRAIL_CMDS_RECORD_PROC_UNTRACED_H

#include <sys/ptrace.h>
#include <sys/types.h>

/*
 * Remove CLONE_UNTRACED from the arguments of clone(2) or clone3(2). @tid is stopped before that
 * call. @info: describes the stop
 */
void untraced_take_out(pid_t tid, const struct __ptrace_syscall_info *info);

#endif
