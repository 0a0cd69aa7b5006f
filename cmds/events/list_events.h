/* --list-event: lists the events that can be recorded. */
#ifndef UTRAIL_CMDS_LIST_EVENTS_H
#define UTRAIL_CMDS_LIST_EVENTS_H

#include "cmds/opts.h"

/*
 * Print the kernel's tracepoints. If there is a program opts->args[0], also print the static probes
 * (SDT) of the program, and the events that the program and its libraries declare. Returns
 * CMD_DONE, or a negative error with @err.
 *
 * With --Event, print only the events that the option names. Static probes of the program's
 * libraries are printed only with --Event.
 */
int list_events(const struct opts *opts, struct uft_err *err);

#endif
