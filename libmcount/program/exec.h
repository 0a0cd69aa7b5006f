/* libc's functions that execute a program. The probe adds its variables to the environment. */
#ifndef UTRAIL_LIBMCOUNT_EXEC_H
#define UTRAIL_LIBMCOUNT_EXEC_H

/*
 * COLD, once, when probe.address is known. Prepares the variables for executed programs, and finds
 * the next definitions of the interposed functions.
 */
void exec_setup(void);

/*
 * COLD. Adds 1 to the number of system call filters that executed programs are told of, since those
 * programs begin with the new filter, too (seal.h).
 */
void exec_expect_filter(void);

#endif
