/* `utrail import`: the records of a trace.dat become the kernel's part of a recording. */
#ifndef UTRAIL_CMDS_IMPORT_KERNEL_TRACE_H
#define UTRAIL_CMDS_IMPORT_KERNEL_TRACE_H

#include "cmds/opts.h"
#include "utils/base/err.h"

/* The file is the argument. Returns an exit status, or negative with @err. */
int kernel_trace_import(const struct opts *opts, struct uft_err *err);

#endif
