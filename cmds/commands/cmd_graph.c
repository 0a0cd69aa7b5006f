/* utrail graph: show the calls of a program as a tree of callers and callees. */
#include <errno.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/commands/compare_graphs.h"
#include "cmds/advice/no_result.h"
#include "cmds/reader.h"
#include "cmds/read_progress.h"
#include "utils/export/export.h"
#include "utils/view/graph/graph.h"

static int graph_tasks(const struct graph *graph, struct pipeline *pipe, struct sink *sink,
		       struct uft_err *err)
{
	struct graph_tasks tasks cleanup(graph_tasks_deinit) = { 0 };
	int ret = graph_tasks_init(&tasks, pipe, err);

	if (ret < 0)
		return ret;

	struct view view = { graph_tasks_events, &tasks };

	ret = pipeline_run(pipe, &view, err);
	return ret < 0 ? ret : graph_tasks_show(graph, &tasks, sink, err);
}

static int graph_calls(const struct graph *graph, const struct opts *opts, struct pipeline *pipe,
		       struct sink *sink, struct uft_err *err)
{
	struct tree tree cleanup_tree = { 0 };
	int ret = tree_init(&tree, pipe, err);

	if (ret < 0)
		return ret;
	graph_prepare(graph, &tree);
	tree.counts_outside = opts->event_full;

	ret = tree_run(&tree, pipe, reader_threads(opts), err);
	if (ret == 0)
		ret = graph_show(graph, &tree, sink, err);
	if (ret == 0)
		no_result_explain(opts, pipe);
	return ret;
}

static int graph_data(const struct opts *opts, const struct graph *graph, struct trace_data *data,
		      struct uft_err *err)
{
	struct pipeline_config stages;
	struct pipeline pipe cleanup_pipeline = { 0 };
	struct sink sink cleanup_sink = { 0 };
	struct read_progress progress;

	reader_pipeline_config(opts, &stages);
	tree_configure(&stages);
	stages.stages.closes_open_calls = !graph->config.is_by_task;
	/*
	 * The graph of one function begins at the calls of that function, however deeply they are
	 * nested. Option -D limits the graph (graph->config.depth), not the calls that are read.
	 */
	if (graph->config.func)
		stages.stages.depth = UINT32_MAX;

	int ret = pipeline_open(&pipe, data, &stages, err);

	if (ret == 0)
		reader_warn_filters(opts, data);
	if (ret == 0)
		ret = reader_open_sink(&sink, err);
	if (ret < 0)
		return ret;
	read_progress_begin(&progress, opts, &pipe, true);
	if (graph->config.is_by_task)
		ret = graph_tasks(graph, &pipe, &sink, err);
	else
		ret = graph_calls(graph, opts, &pipe, &sink, err);
	return read_progress_end(&progress, opts,
				 reader_finish(&sink, &pipe.broken, MIN(ret, 0), err));
}

static struct graph_config config_of(const struct opts *opts)
{
	return (struct graph_config){
		.color = opts->color_mode,
		.fields = opts->fields,
		.func = opts->nr_args ? opts->args[0] : NULL,
		.depth = opts->nr_args && opts->depth != OPTS_DEFAULT_DEPTH ? opts->depth : 0,
		.is_by_task = opts->by_task,
	};
}

static int graph_difference(const struct opts *opts, struct trace_data *base, struct uft_err *err)
{
	struct opts other = *opts;
	struct trace_data pair;

	other.data_dir = opts->diff_dirs;

	int ret = reader_open_records_of(&pair, &other, config_of(opts).func, err);

	if (ret)
		return ret;

	const struct graph_diff_config config = {
		.color = opts->color_mode,
		.func = config_of(opts).func,
		.is_picture = opts->format == OPTS_FORMAT_EXPORT + EXPORT_svg,
	};

	ret = compare_graphs(opts, &config, base, &pair, err);
	reader_close_data(&pair, &other);
	return ret;
}

static int check_graph(const struct opts *opts, struct uft_err *err)
{
	const struct graph_config config = config_of(opts);
	struct graph graph;

	if (opts->nr_args > 1)
		return err_set(err, -ERR_USAGE, "graph shows one function, not also '%s'",
			       opts->args[1]);
	if (opts->diff_dirs && (opts->by_task || opts->fields || opts->srcline))
		return err_set(
			err, -ERR_USAGE,
			"--diff shows calls in its own columns: not with --task, -f or --srcline");
	if (opts->diff_dirs && strchr(opts->diff_dirs, '\n'))
		return err_set(err, -ERR_USAGE, "graph compares with one recording only");
	return graph_init(&graph, &config, err);
}

static int run_graph(const struct opts *opts, struct uft_err *err)
{
	const struct graph_config config = config_of(opts);
	struct graph graph;
	struct trace_data data;

	if (graph_init(&graph, &config, err) < 0)
		return -ERR_USAGE;

	int ret = reader_open_records_of(&data, opts, config.func, err);

	if (ret)
		return ret;
	if (opts->srcline)
		graph.config.source = &data.modules;
	ret = opts->diff_dirs ? graph_difference(opts, &data, err)
			      : graph_data(opts, &graph, &data, err);
	if (ret == -ENOENT && graph.config.func)
		reader_add_nearest(opts, &data, graph.config.func, err);
	reader_close_data(&data, opts);
	return ret;
}

const struct cmd cmd_graph = {
	.name = "graph",
	.args = "[FUNCTION]",
	.help = "show what called what, how often and how long it took",
	.bit = CMD_GRAPH,
	.uses_pager = true,
	.reads_data = true,
	.check = check_graph,
	.run = run_graph,
};
