/* exec with an environment that the caller has made: the variables that the probe adds. */
#ifndef UTRAIL_LIBMCOUNT_EXEC_H
#define UTRAIL_LIBMCOUNT_EXEC_H

/* COLD, called once, when probe.address is known. */
void exec_setup(void);

/* COLD. Executed programs begin with one more filter of system calls from now on (seal.h). */
void exec_expect_filter(void);

#endif
