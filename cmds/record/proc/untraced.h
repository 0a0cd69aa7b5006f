/*
 * Children that ask for no tracer (CLONE_UNTRACED): they would have the filter, and nobody who
 * answers it.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_UNTRACED_H
#define UTRAIL_CMDS_RECORD_PROC_UNTRACED_H

#include <sys/ptrace.h>
#include <sys/types.h>

/*
 * Thread @tid stands in front of clone(2) or clone3(2), as @info says: the kernel is to see the
 * call without that flag.
 */
void untraced_take_out(pid_t tid, const struct __ptrace_syscall_info *info);

#endif
