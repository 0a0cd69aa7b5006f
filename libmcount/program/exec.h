/* libc's functions that execute a program. The probe adds its variables to the environment. */
#ifndef UTRAIL_LIBMCOUNT_EXEC_H
#define UTRAIL_LIBMCOUNT_EXEC_H

/*
 * COLD, once, when probe.address is known. Prepares the environment variables that the probe adds
 * for executed programs. Also finds the next definitions of the interposed functions.
 */
void exec_setup(void);

/*
 * COLD, before this process gets a system call filter. Executed programs inherit the filter, and
 * their environment contains the number of filters (seal.h). Adds 1 to this number.
 */
void exec_expect_filter(void);

#endif
