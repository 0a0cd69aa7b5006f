/* backtrace(3), interposed. */
#ifndef UTRAIL_LIBMCOUNT_BACKTRACE_H
#define UTRAIL_LIBMCOUNT_BACKTRACE_H

/*
 * At start, when the dynamic linker's lock is free: the program may call it for the first time when
 * it crashes.
 */
void backtrace_setup(void);

#endif
