/* --list-event: lists the events that can be recorded. */
#ifndef UTRAIL_CMDS_LIST_EVENTS_H
#define UTRAIL_CMDS_LIST_EVENTS_H

#include "cmds/opts.h"

/*
 * Print the kernel's tracepoints and the static probes (SDT) of the program opts->args[0], if there
 * is one. With --Event, only events that it names are printed, also those of the program's
 * libraries. Returns CMD_DONE, or negative with @err.
 */
int list_events(const struct opts *opts, struct uft_err *err);

#endif
