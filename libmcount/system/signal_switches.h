/* --signal: signals that switch recording on and off, or end it. */
#ifndef UTRAIL_LIBMCOUNT_SIGNAL_SWITCHES_H
#define UTRAIL_LIBMCOUNT_SIGNAL_SWITCHES_H

#include <stdbool.h>

/*
 * COLD. From now on the plan's signals come to the probe's handler, then to the program's. An
 * attached probe does nothing.
 */
void signal_switches_begin(void);

/* True when the plan has an action for signal @sig. */
bool signal_switches_have(int sig);

/*
 * In a signal handler: does the plan's action for @sig. With @has_handler the calls of the
 * program's handler are recorded, too. If @sig ends the recording, signal_switches_end() does so
 * after the handler.
 */
void signal_switches_obey(int sig, bool has_handler);
void signal_switches_end(void);

#endif
