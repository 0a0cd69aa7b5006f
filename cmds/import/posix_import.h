/* `utrail events import` of logs of POSIX Trace. */
#ifndef UTRAIL_CMDS_IMPORT_POSIX_IMPORT_H
#define UTRAIL_CMDS_IMPORT_POSIX_IMPORT_H

#include "cmds/opts.h"
#include "utils/base/err.h"

/*
 * Import the logs. The names of the logs are opts->args[1] and the following arguments. Returns an
 * exit status, or a negative error with @err.
 */
int posix_import(const struct opts *opts, struct uft_err *err);

#endif
