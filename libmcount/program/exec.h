/*
 * exec with an environment that the caller has made: the variables that a recorded program passes
 * on.
 */
#ifndef UTRAIL_LIBMCOUNT_EXEC_H
#define UTRAIL_LIBMCOUNT_EXEC_H

/* COLD, called once, when probe.address is known. */
void exec_setup(void);

/* COLD. From now on executed programs begin with one more filter of system calls (seal.h). */
void exec_expect_filter(void);

#endif
