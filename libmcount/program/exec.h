/* exec with an environment of the caller's own: the variables that the probe adds. */
#ifndef UTRAIL_LIBMCOUNT_EXEC_H
#define UTRAIL_LIBMCOUNT_EXEC_H

/* COLD, called once, when probe.address is known. */
void exec_setup(void);

/* COLD. From now on executed programs begin with one more filter of system calls (seal.h). */
void exec_expect_filter(void);

#endif
