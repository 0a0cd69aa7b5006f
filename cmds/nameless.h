/* Programs whose functions have no names, and ways to get names. */
#ifndef UTRAIL_CMDS_NAMELESS_H
#define UTRAIL_CMDS_NAMELESS_H

#include "cmds/opts.h"
#include "utils/pipeline/recording/data.h"

/*
 * After all is shown: warn about files of @data whose functions were shown as addresses, since the
 * files have no symbols of their own.
 */
void nameless_warn(const struct opts *opts, const struct trace_data *data);

#endif
