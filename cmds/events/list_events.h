/* --list-event: lists the events that can be recorded. */
#ifndef UTRAIL_CMDS_LIST_EVENTS_H
#define UTRAIL_CMDS_LIST_EVENTS_H

#include "cmds/opts.h"

/*
 * Print the kernel's tracepoints, and the static probes (SDT) of the program opts->args[0] if there
 * is one. Returns CMD_DONE, or a negative error with @err.
 *
 * With --Event, only events that the option names are printed, also those of the program's
 * libraries.
 */
int list_events(const struct opts *opts, struct uft_err *err);

#endif
