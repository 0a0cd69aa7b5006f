/* Programs whose functions have no names, and ways to get names. */
#ifndef UTRAIL_CMDS_NAMELESS_H
#define UTRAIL_CMDS_NAMELESS_H

#include "cmds/opts.h"
#include "utils/pipeline/recording/data.h"

/*
 * Warn about files of @data without symbols of their own, after their functions were shown as
 * addresses.
 */
void nameless_warn(const struct opts *opts, const struct trace_data *data);

#endif
