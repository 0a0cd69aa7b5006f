/* System calls that the program has forbidden to itself (seccomp(2)). */
#ifndef UTRAIL_LIBMCOUNT_SEAL_H
#define UTRAIL_LIBMCOUNT_SEAL_H

#include "libmcount/system/own_syscall.h"

/*
 * COLD. Called before the program installs the seccomp filter at @program (struct sock_fprog).
 * After this call the probe makes a system call only if this filter and all earlier filters allow
 * the system call.
 */
void seal_before_filter(uint64_t program);

/*
 * COLD. Called before this thread gets a seccomp filter that the probe cannot read. After this call
 * the probe makes no system call.
 */
void seal_all(void);

/*
 * COLD, at the very start. True when this process has more than @expected seccomp filters, or when
 * /proc exists and the number of filters is unreadable. This function makes only the system calls
 * openat(2), read(2) and close(2). All filters of this process allow these system calls, since the
 * dynamic linker has just used these system calls to load libraries.
 *
 * @expected: the number of filters that the process had when its program was executed. The
 *            recorder's address contains this number (control_address_filters())
 */
bool seal_was_before(unsigned expected);

/*
 * Returns the number of filters in @status, the text of proc_pid_status(5). A kernel before 5.9
 * does not state the number. In this case the result is 1 when there are any filters, else 0.
 */
unsigned seal_count_filters(const char *status);

#endif
