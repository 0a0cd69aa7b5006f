/* backtrace(3), interposed. */
#ifndef UTRAIL_LIBMCOUNT_BACKTRACE_H
#define UTRAIL_LIBMCOUNT_BACKTRACE_H

/*
 * Called at the start of the program, while the dynamic linker's lock is free. Finds the definition
 * of backtrace(3) that follows the probe's own definition. Without backtrace_setup(), the program's
 * first call of backtrace(3) would search for the definition. A program may make this call after a
 * crash, while the lock is held.
 */
void backtrace_setup(void);

#endif
