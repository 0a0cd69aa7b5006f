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
 * Called in the probe's signal handler. Does the plan's action for @sig. If this action ends the
 * recording, and @has_handler is true, the recording goes on while the program's handler runs.
 * After the program's handler, signal_switches_end() ends the recording.
 *
 * @has_handler: the program has a handler for @sig
 */
void signal_switches_obey(int sig, bool has_handler);
void signal_switches_end(void);

#endif
