/* Programs whose functions have no names, and what helps. */
#ifndef UTRAIL_CMDS_NAMELESS_H
#define UTRAIL_CMDS_NAMELESS_H

#include "cmds/opts.h"
#include "utils/trace/recording/data.h"

/*
 * Warn about files of @data whose functions were shown as addresses since the files have no symbols
 * of their own. After all is shown.
 */
void nameless_warn(const struct opts *opts, const struct trace_data *data);

#endif
