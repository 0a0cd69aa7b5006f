/*
 * Before a signal ends the program: writes held-back records, and tells the recorder which calls
 * are open.
 */
#ifndef UTRAIL_LIBMCOUNT_CRASH_H
#define UTRAIL_LIBMCOUNT_CRASH_H

#include <signal.h>

/*
 * Called in the probe's signal handler, in the thread that has got @sig, when the program has no
 * handler for @sig. Takes no lock of libc, and allocates nothing.
 *
 * @sig: SIGSEGV, SIGBUS, SIGABRT, SIGFPE or SIGILL; or a signal whose action (--signal) was removed
 *       while the program ran
 */
void crash_note(int sig, const siginfo_t *info);

#endif
