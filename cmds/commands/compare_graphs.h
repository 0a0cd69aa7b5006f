/* The difference of two recordings' call graphs, which graph and dump show. */
#ifndef UTRAIL_CMDS_COMMANDS_COMPARE_GRAPHS_H
#define UTRAIL_CMDS_COMMANDS_COMPARE_GRAPHS_H

#include "cmds/opts.h"
#include "utils/pipeline/recording/data.h"
#include "utils/view/graph/graph_diff.h"

/*
 * Read the calls of two open recordings and write to stdout by how much @pair has more or less than
 * @base. Returns the values of struct cmd's run().
 */
int compare_graphs(const struct opts *opts, const struct graph_diff_config *config,
		   struct trace_data *base, struct trace_data *pair, struct uft_err *err);

#endif
