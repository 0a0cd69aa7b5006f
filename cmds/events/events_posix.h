/* `utrail events show` for logs of POSIX Trace. */
#ifndef UTRAIL_CMDS_EVENTS_POSIX_H
#define UTRAIL_CMDS_EVENTS_POSIX_H

#include "cmds/opts.h"
#include "utils/base/err.h"

/*
 * Show logs. The words after the first one in opts->args are the names of the logs. Returns an exit
 * status, or a negative error with @err.
 */
int events_posix_show(const struct opts *opts, struct uft_err *err);

#endif
