/* backtrace(3), interposed. */
#ifndef UTRAIL_LIBMCOUNT_BACKTRACE_H
#define UTRAIL_LIBMCOUNT_BACKTRACE_H

/*
 * Finds the next definition of backtrace(3) at start, when the dynamic linker's lock is free. The
 * program may call backtrace(3) for the first time when it crashes.
 */
void backtrace_setup(void);

#endif
