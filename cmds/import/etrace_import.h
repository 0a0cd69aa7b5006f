/*
 * `utrail events import` for an etrace text (doc/formats/etrace.md). The text lists events of
 * processes and files.
 */
#ifndef UTRAIL_CMDS_IMPORT_ETRACE_IMPORT_H
#define UTRAIL_CMDS_IMPORT_ETRACE_IMPORT_H

#include "cmds/opts.h"
#include "utils/base/err.h"

/*
 * Returns 1 when the command line has an etrace text, and 0 when it has none. Returns a negative
 * error with @err if the command line also has other files, or options that do not apply to an
 * etrace text.
 */
int etrace_is_given(const struct opts *opts, struct uft_err *err);

/* Import the etrace text. Returns an exit status, or a negative error with @err. */
int etrace_import(const struct opts *opts, struct uft_err *err);

#endif
