/* The difference of two recordings' call graphs, for the commands `graph` and `dump`. */
#ifndef UTRAIL_CMDS_COMMANDS_COMPARE_GRAPHS_H
#define UTRAIL_CMDS_COMMANDS_COMPARE_GRAPHS_H

#include "cmds/opts.h"
#include "utils/pipeline/recording/data.h"
#include "utils/view/graph/graph_diff.h"

/*
 * Read the calls of two open recordings, @base and @pair. Write the differences between the two
 * call graphs to stdout. Returns the same values as run() in struct cmd.
 */
int compare_graphs(const struct opts *opts, const struct graph_diff_config *config,
		   struct trace_data *base, struct trace_data *pair, struct uft_err *err);

#endif
