/* `utrail events import` of process and file events as text (doc/formats/etrace.md). */
#ifndef UTRAIL_CMDS_IMPORT_ETRACE_IMPORT_H
#define UTRAIL_CMDS_IMPORT_ETRACE_IMPORT_H

#include "cmds/opts.h"
#include "utils/base/err.h"

/*
 * Returns 1 when the file that the command names is such a text; 0; or negative with @err when
 * further files are named, or options that do not apply.
 */
int etrace_is_given(const struct opts *opts, struct uft_err *err);

/* An exit status, or negative with @err. */
int etrace_import(const struct opts *opts, struct uft_err *err);

#endif
