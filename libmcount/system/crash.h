/*
 * A signal ends the program: held-back records are written, and the recorder is told the open
 * calls.
 */
#ifndef UTRAIL_LIBMCOUNT_CRASH_H
#define UTRAIL_LIBMCOUNT_CRASH_H

#include <signal.h>

/*
 * In a signal handler, in the thread that caused it, when the signal is about to end the program:
 * SIGSEGV, SIGBUS, SIGABRT, SIGFPE or SIGILL, and the program has no handler of its own. Plain
 * system calls only.
 */
void crash_note(int sig, const siginfo_t *info);

#endif
