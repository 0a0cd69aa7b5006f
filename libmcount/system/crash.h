/*
 * Before a signal ends the program: writes held-back records, and tells the recorder which calls
 * are open.
 */
#ifndef UTRAIL_LIBMCOUNT_CRASH_H
#define UTRAIL_LIBMCOUNT_CRASH_H

#include <signal.h>

/*
 * Called in the probe's signal handler, in the thread that has got @sig, when the program has no
 * handler for @sig. @sig is SIGSEGV, SIGBUS, SIGABRT, SIGFPE or SIGILL, or a signal for which an
 * earlier plan has an action (--signal) but the present plan has none. Takes no lock of libc, and
 * allocates nothing.
 */
void crash_note(int sig, const siginfo_t *info);

#endif
