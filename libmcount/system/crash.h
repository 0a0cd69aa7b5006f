/* Before a signal ends the program: writes held-back records, tells the recorder open calls. */
#ifndef UTRAIL_LIBMCOUNT_CRASH_H
#define UTRAIL_LIBMCOUNT_CRASH_H

#include <signal.h>

/*
 * Called in a signal handler, in the thread that caused the signal, when @sig is about to end the
 * program: it is SIGSEGV, SIGBUS, SIGABRT, SIGFPE or SIGILL, and the program has no handler for it.
 * Makes plain system calls only.
 */
void crash_note(int sig, const siginfo_t *info);

#endif
