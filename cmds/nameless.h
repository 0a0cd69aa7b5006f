/* Warns about programs whose functions have no names, and says how to get the names. */
#ifndef UTRAIL_CMDS_NAMELESS_H
#define UTRAIL_CMDS_NAMELESS_H

#include "cmds/opts.h"
#include "utils/pipeline/recording/data.h"

/*
 * Warn about each program or library of @data if its symbols name none of its functions, and the
 * output shows some of these functions as addresses. So call nameless_warn() after all output.
 */
void nameless_warn(const struct opts *opts, const struct trace_data *data);

#endif
