/* The --signal language: the signals that turn recording on or off, or finish the recording. */
#ifndef UTRAIL_SPEC_SIGNALS_H
#define UTRAIL_SPEC_SIGNALS_H

#include <stdint.h>

#include "utils/base/err.h"

/* Sets of signals: bit N - 1 is for signal N. */
struct signal_switches {
	uint64_t on;
	uint64_t off;
	uint64_t finish;
};

/*
 * Parse "SIG@ACTION{;SIG@ACTION}" (doc/facts/language.md, "Signals"). The last ACTION for a signal
 * counts. Returns 0, -ENOMEM, or -ERR_USAGE with the column and the error. After an
 * error, @out is unchanged.
 *
 * SIG is a name (SIGUSR1 or USR1), a number, RTMIN+n or RTMAX-n. ACTION is trace_on, trace_off or
 * finish.
 */
int signal_switches_parse(const char *text, struct signal_switches *out, struct uft_err *err);

#endif
