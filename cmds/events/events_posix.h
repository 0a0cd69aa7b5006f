/* `utrail events show` for logs of POSIX Trace. */
#ifndef UTRAIL_CMDS_EVENTS_POSIX_H
#define UTRAIL_CMDS_EVENTS_POSIX_H

#include "cmds/opts.h"
#include "utils/base/err.h"

/*
 * Show the logs that opts->args names after its first word. Returns an exit status, or a negative
 * error with @err.
 */
int events_posix_show(const struct opts *opts, struct uft_err *err);

#endif
