/* backtrace(3), interposed. */
#ifndef UTRAIL_LIBMCOUNT_BACKTRACE_H
#define UTRAIL_LIBMCOUNT_BACKTRACE_H

/*
 * Called at the start of the program, when no thread holds the dynamic linker's lock. Finds the
 * next definition of backtrace(3) after the probe's own definition. Without backtrace_setup(), the
 * program's first call of backtrace(3) would search for this definition. The search takes the
 * dynamic linker's lock. If a program calls backtrace(3) after a crash, another thread may hold
 * this lock, and the search would wait.
 */
void backtrace_setup(void);

#endif
