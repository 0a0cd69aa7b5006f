/* backtrace(3), interposed. */
#ifndef UTRAIL_LIBMCOUNT_BACKTRACE_H
#define UTRAIL_LIBMCOUNT_BACKTRACE_H

/*
 * Find the next backtrace(3) at start, when the dynamic linker's lock is free: the program may call
 * it for the first time when it crashes.
 */
void backtrace_setup(void);

#endif
