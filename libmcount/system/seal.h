/*
 * System calls that the program has forbidden itself (seccomp(2)), and those that the probe may
 * still make.
 */
#ifndef UTRAIL_LIBMCOUNT_SEAL_H
#define UTRAIL_LIBMCOUNT_SEAL_H

#include "libmcount/system/own_syscall.h"

/*
 * COLD. The filter at @program (struct sock_fprog) is about to be put on this thread, and perhaps
 * on other threads.
 */
void seal_before_filter(uint64_t program);

/*
 * COLD. This thread is about to get a filter that could not be read: no system call counts as
 * allowed any more.
 */
void seal_all(void);

/*
 * COLD, the first function of the probe. True when this process has more than @expected filters,
 * the number with which programs of its recorder begin. Makes only system calls that the dynamic
 * linker has just made.
 */
bool seal_was_before(unsigned expected);

/*
 * Returns the number of filters in @status, the text of proc_pid_status(5). If the kernel does not
 * state the number, 1 when there are any filters, else 0.
 */
unsigned seal_count_filters(const char *status);

#endif
