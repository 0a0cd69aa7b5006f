/* exec with an environment that the caller has made: the variables that the probe adds. */
#ifndef UTRAIL_LIBMCOUNT_EXEC_H
#define UTRAIL_LIBMCOUNT_EXEC_H

/*
 * COLD, once, when probe.address is known. Prepares the variables for executed programs, and finds
 * the next definitions of the interposed functions.
 */
void exec_setup(void);

/*
 * COLD. Notes for executed programs that they begin with one more filter of system calls (seal.h).
 */
void exec_expect_filter(void);

#endif
