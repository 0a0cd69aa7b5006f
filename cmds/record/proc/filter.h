/* The filter of system calls (seccomp(2)). The filter stops tasks at watched calls. */
#ifndef UTRAIL_CMDS_RECORD_PROC_FILTER_H
#define UTRAIL_CMDS_RECORD_PROC_FILTER_H

#include <linux/filter.h>
#include <stdint.h>

#include "arch/syscalls.h"

#define PROC_FILTER_MAX 256

/* @program: refers to @code, in the form that seccomp(2) expects */
struct proc_filter {
	struct sock_filter code[PROC_FILTER_MAX];
	struct sock_fprog program;
};

void proc_filter_make(struct proc_filter *filter);

/*
 * Returns the system call at which the filter of proc_filter_make() has stopped a task. Returns
 * SYSCALL_NONE when the task was stopped by a filter that a program has installed.
 *
 * @data: SECCOMP_RET_DATA of the stop
 */
enum syscall_id proc_filter_call(uint32_t data);

/* The beginning of messages about a filter that could not be made. */
#define PROC_FILTER_WHY                                                                            \
	"cannot record what processes do with files (--no-proc-files does without): no filter of " \
	"system calls"

/* Check that the kernel supports filters of system calls. Returns 0 or a negative errno. */
int proc_filter_check(void);

/*
 * Async-signal-safe. Install the filter in the calling process, and so in all its descendants. If
 * the kernel permits a filter only with the flag PR_SET_NO_NEW_PRIVS, this function sets the flag.
 * With the flag, setuid programs do not get the rights of their owners. Returns 0 or a negative
 * errno.
 */
int proc_filter_install(const struct sock_fprog *program);

#endif
