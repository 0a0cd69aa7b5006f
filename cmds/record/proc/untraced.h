/*
 * Removes the flag CLONE_UNTRACED from system calls. A child that is made with this flag has no
 * tracer, but inherits the seccomp filter. In a child without a tracer, all system calls that the
 * filter reports would fail.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_UNTRACED_H
#define UTRAIL_CMDS_RECORD_PROC_UNTRACED_H

#include <sys/ptrace.h>
#include <sys/types.h>

/*
 * Remove CLONE_UNTRACED from the arguments of clone(2) or clone3(2).
 *
 * @tid: a task that is stopped before this system call
 * @info: describes the stop
 */
void untraced_take_out(pid_t tid, const struct __ptrace_syscall_info *info);

#endif
