/* `utrail import`: makes the kernel's part of a recording from the records of a trace.dat. */
#ifndef UTRAIL_CMDS_IMPORT_KERNEL_TRACE_H
#define UTRAIL_CMDS_IMPORT_KERNEL_TRACE_H

#include "cmds/opts.h"
#include "utils/base/err.h"

/* Import the file of the command line. Returns an exit status, or a negative error with @err. */
int kernel_trace_import(const struct opts *opts, struct uft_err *err);

#endif
