/*
 * System calls that the program has forbidden itself (seccomp(2)): which of them the probe may
 * still make.
 */
#ifndef UTRAIL_LIBMCOUNT_SEAL_H
#define UTRAIL_LIBMCOUNT_SEAL_H

#include "libmcount/system/own_syscall.h"

/*
 * COLD. The filter at @program (struct sock_fprog) is about to be put on this thread, and maybe on
 * others.
 */
void seal_before_filter(uint64_t program);

/* COLD. This thread is about to get a filter that nobody has read: nothing is allowed any more. */
void seal_all(void);

/*
 * COLD, before anything else is done. True when this process has more filters than its recorder's
 * programs begin with; known by the only calls that the dynamic linker has just made. @expected: as
 * the recorder has said.
 */
bool seal_was_before(unsigned expected);

/*
 * The number of filters in @status, the text of proc_pid_status(5). If the kernel does not say
 * that: whether there are any.
 */
unsigned seal_count_filters(const char *status);

#endif
