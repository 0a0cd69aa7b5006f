/*
 * The filter of system calls (seccomp(2)) by which the kernel tells the tracer of those that it
 * watches, and of no others.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_FILTER_H
#define UTRAIL_CMDS_RECORD_PROC_FILTER_H

#include <linux/filter.h>
#include <stdint.h>

#include "arch/syscalls.h"

#define PROC_FILTER_MAX 256

/* @program: of @code, for seccomp(2) */
struct proc_filter {
	struct sock_filter code[PROC_FILTER_MAX];
	struct sock_fprog program;
};

void proc_filter_make(struct proc_filter *filter);

/*
 * The call that a stop of the filter reports (SECCOMP_RET_DATA). SYSCALL_NONE: the stop is of
 * another filter, which a program has made itself.
 */
enum syscall_id proc_filter_call(uint32_t data);

/* In front of why one cannot be had. */
#define PROC_FILTER_WHY                                                                            \
	"cannot record what processes do with files (--no-proc-files does without): no filter of " \
	"system calls"

/* Ask whether the kernel has such filters: 0 or negative errno. */
int proc_filter_check(void);

/*
 * Async-signal-safe. Put it on the calling process and all that descends from it. A process that
 * may not do that otherwise gives up the rights of setuid programs for it (PR_SET_NO_NEW_PRIVS). 0
 * or negative errno.
 */
int proc_filter_install(const struct sock_fprog *program);

#endif
