/* --list-event: which events could be recorded. */
#ifndef UTRAIL_CMDS_LIST_EVENTS_H
#define UTRAIL_CMDS_LIST_EVENTS_H

#include "cmds/opts.h"

/*
 * Print the kernel's tracepoints and the static probes (SDT) of the program opts->args[0], if there
 * is one: those that --Event names, then also those of the program's libraries; without --Event
 * all. CMD_DONE, or negative with @err.
 */
int list_events(const struct opts *opts, struct uft_err *err);

#endif
