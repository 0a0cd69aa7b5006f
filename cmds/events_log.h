/* `utrail events check`: are the lines of a log what libutrail-trace writes? */
#ifndef UTRAIL_CMDS_EVENTS_LOG_H
#define UTRAIL_CMDS_EVENTS_LOG_H

#include "cmds/opts.h"
#include "utils/base/err.h"

/* Lists what is wrong with the files that are the arguments from the second one on. An exit status, or negative with @err. */
int events_log_check(const struct opts *opts, struct uft_err *err);

#endif
