/* --signal: signals that switch recording on and off, or end it. */
#ifndef UTRAIL_LIBMCOUNT_SIGNAL_SWITCHES_H
#define UTRAIL_LIBMCOUNT_SIGNAL_SWITCHES_H

#include <stdbool.h>

/*
 * COLD. After this call, each signal for which probe.plan has an action goes to the probe's handler
 * first. Then the program's handler of the signal is called, if the program has such a handler. In
 * an attached probe, this function does nothing.
 */
void signal_switches_begin(void);

/* True when probe.plan has an action for signal @sig. */
bool signal_switches_have(int sig);

/*
 * Called in the probe's signal handler. Does the plan's action for @sig. If @sig is to end the
 * recording, and the program handles @sig (@has_handler), the calls of the program's handler are
 * still recorded. After the program's handler, signal_switches_end() ends the recording.
 */
void signal_switches_obey(int sig, bool has_handler);
void signal_switches_end(void);

#endif
