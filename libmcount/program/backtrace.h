/* backtrace(3), interposed. */
#ifndef UTRAIL_LIBMCOUNT_BACKTRACE_H
#define UTRAIL_LIBMCOUNT_BACKTRACE_H

/*
 * Called at the start of the program, when no thread holds the dynamic linker's lock. Finds the
 * next definition of backtrace(3) after the probe's own definition. Without backtrace_setup(), the
 * program's first call of backtrace(3) would search for this definition. A program may call
 * backtrace(3) after a crash, while a thread holds the lock.
 */
void backtrace_setup(void);

#endif
