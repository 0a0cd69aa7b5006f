/* backtrace(3), interposed. */
#ifndef UTRAIL_LIBMCOUNT_BACKTRACE_H
#define UTRAIL_LIBMCOUNT_BACKTRACE_H

/*
 * Called at the start of the program, while the dynamic linker's lock is free. Finds the next
 * definition of backtrace(3). Otherwise the search would come with the program's first call of
 * backtrace(3), perhaps in a crash.
 */
void backtrace_setup(void);

#endif
