/* The difference of two recordings' call graphs (see compare_graphs.h). */
#include "cmds/commands/compare_graphs.h"

#include "cmds/reader.h"
#include "cmds/read_progress.h"

/* Makes the call tree of one of the two recordings. */
static int make_tree(const struct opts *opts, struct trace_data *data, struct pipeline *pipe,
		     struct tree *tree, struct uft_err *err)
{
	struct pipeline_config stages;
	struct read_progress progress;

	reader_pipeline_config(opts, &stages);
	tree_configure(&stages);

	int ret = pipeline_open(pipe, data, &stages, err);

	if (ret == 0)
		ret = tree_init(tree, pipe, err);
	if (ret < 0)
		return ret;
	tree->counts_outside = opts->event_full;
	read_progress_begin(&progress, opts, pipe, true);
	ret = tree_run(tree, pipe, reader_threads(opts), err);
	return read_progress_end_compared(&progress, opts, ret);
}

int compare_graphs(const struct opts *opts, const struct graph_diff_config *config,
		   struct trace_data *base, struct trace_data *pair, struct uft_err *err)
{
	struct pipeline base_pipe cleanup_pipeline = { 0 };
	struct pipeline pair_pipe cleanup_pipeline = { 0 };
	struct tree base_tree cleanup_tree = { 0 };
	struct tree pair_tree cleanup_tree = { 0 };
	struct sink sink cleanup_sink = { 0 };
	int ret = make_tree(opts, base, &base_pipe, &base_tree, err);

	if (ret == 0)
		ret = make_tree(opts, pair, &pair_pipe, &pair_tree, err);
	if (ret == 0)
		ret = reader_open_sink(&sink, err);
	if (ret)
		return ret;
	ret = graph_diff_show(config, &base_tree, &pair_tree, &sink, err);
	return reader_finish(&sink, base_pipe.broken.code ? &base_pipe.broken : &pair_pipe.broken,
			     ret, err);
}
