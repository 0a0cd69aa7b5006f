/* Warnings about programs whose functions have no names, with ways to get the names. */
#ifndef UTRAIL_CMDS_NAMELESS_H
#define UTRAIL_CMDS_NAMELESS_H

#include "cmds/opts.h"
#include "utils/pipeline/recording/data.h"

/*
 * Warn about files of @data without symbols of their own. Call it after their functions were shown
 * as addresses.
 */
void nameless_warn(const struct opts *opts, const struct trace_data *data);

#endif
