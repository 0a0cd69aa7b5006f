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
 * @sig: SIGSEGV, SIGBUS, SIGABRT, SIGFPE or SIGILL. If the actions of --signal were changed while
 *       the program ran, @sig can also be a signal that has lost its action
 */
void crash_note(int sig, const siginfo_t *info);

#endif
