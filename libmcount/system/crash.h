/*
 * Before a signal ends the program: writes held-back records, and tells the recorder which calls
 * are open.
 */
#ifndef UTRAIL_LIBMCOUNT_CRASH_H
#define UTRAIL_LIBMCOUNT_CRASH_H

#include <signal.h>

/*
 * Called in a signal handler, in the thread that has got @sig: SIGSEGV, SIGBUS, SIGABRT, SIGFPE or
 * SIGILL without a handler of the program, or a signal that --signal named until the plan was
 * changed. Takes no lock of libc, and allocates nothing.
 */
void crash_note(int sig, const siginfo_t *info);

#endif
