/*
 * `utrail events import`: makes a recording from logs of declared events, or adds the events to an
 * existing recording.
 */
#ifndef UTRAIL_CMDS_IMPORT_IMPORT_H
#define UTRAIL_CMDS_IMPORT_IMPORT_H

#include "cmds/opts.h"
#include "utils/base/err.h"

/*
 * Import the logs. Their paths are opts->args[1] and the following words. Returns an exit status,
 * or a negative error with @err.
 */
int events_import(const struct opts *opts, struct uft_err *err);

/* Check the options that only `events import` understands. Returns 0 or -ERR_USAGE. */
int events_import_check(const struct opts *opts, struct uft_err *err);

#endif
