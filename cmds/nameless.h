/* Warnings about programs whose functions have no names, with ways to get the names. */
#ifndef UTRAIL_CMDS_NAMELESS_H
#define UTRAIL_CMDS_NAMELESS_H

#include "cmds/opts.h"
#include "utils/pipeline/recording/data.h"

/*
 * Warn about programs and libraries of @data that do not name their own functions. Call
 * nameless_warn() after all output: only functions that were shown as addresses cause a warning.
 */
void nameless_warn(const struct opts *opts, const struct trace_data *data);

#endif
