/*
 * Children that refuse a tracer (CLONE_UNTRACED): they would have the filter, with no tracer to
 * answer it.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_UNTRACED_H
#define UTRAIL_CMDS_RECORD_PROC_UNTRACED_H

#include <sys/ptrace.h>
#include <sys/types.h>

/*
 * Thread @tid is stopped before clone(2) or clone3(2), described by @info: remove that flag from
 * the call.
 */
void untraced_take_out(pid_t tid, const struct __ptrace_syscall_info *info);

#endif
