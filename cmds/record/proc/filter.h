/*
 * The filter of system calls (seccomp(2)): the kernel stops tasks for the tracer at watched calls
 * only.
 */
#ifndef UTRAIL_CMDS_RECORD_PROC_FILTER_H
#define UTRAIL_CMDS_RECORD_PROC_FILTER_H

#include <linux/filter.h>
#include <stdint.h>

#include "arch/syscalls.h"

#define PROC_FILTER_MAX 256

/* @program: refers to @code, for seccomp(2) */
struct proc_filter {
	struct sock_filter code[PROC_FILTER_MAX];
	struct sock_fprog program;
};

void proc_filter_make(struct proc_filter *filter);

/*
 * Returns the call that a stop of the filter reports (SECCOMP_RET_DATA). SYSCALL_NONE: the stop is
 * of another filter, which a program has set.
 */
enum syscall_id proc_filter_call(uint32_t data);

/* The beginning of messages about a filter that could not be made. */
#define PROC_FILTER_WHY                                                                            \
	"cannot record what processes do with files (--no-proc-files does without): no filter of " \
	"system calls"

/* Check that the kernel has filters of system calls. Returns 0 or negative errno. */
int proc_filter_check(void);

/*
 * Async-signal-safe. Put the filter on the calling process and all its descendants; without
 * permission they lose the rights of setuid programs (PR_SET_NO_NEW_PRIVS). Returns 0 or negative
 * errno.
 */
int proc_filter_install(const struct sock_fprog *program);

#endif
