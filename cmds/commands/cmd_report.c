/* utrail report: add up the calls of a recording. */
#include <errno.h>
#include <string.h>

#include "cmds/cmd.h"
#include "cmds/advice/no_result.h"
#include "cmds/reader.h"
#include "cmds/events/report_events.h"
#include "cmds/read_progress.h"
#include "utils/view/report/report.h"
#include "utils/view/report/report_diff.h"
#include "utils/view/report/report_func.h"

static enum report_average average_of(const struct opts *opts)
{
	if (opts->average_total)
		return REPORT_AVERAGE_TOTAL;
	return opts->average_self ? REPORT_AVERAGE_SELF : REPORT_AVERAGE_NONE;
}

static enum report_format format_of(const struct opts *opts)
{
	if (opts->format == OPTS_FORMAT_CSV)
		return REPORT_CSV;
	return opts->format == OPTS_FORMAT_JSON ? REPORT_JSON : REPORT_TEXT;
}

static struct report_config config_of(const struct opts *opts)
{
	return (struct report_config){
		.color = opts->color_mode,
		.fields = opts->fields,
		.sort_keys = opts->sort_keys,
		.average = average_of(opts),
		.is_by_task = opts->by_task,
		.format = format_of(opts),
		.counts_outside = opts->event_full,
	};
}

static struct diff_config diff_config_of(const struct opts *opts)
{
	return (struct diff_config){
		.color = opts->color_mode,
		.fields = opts->fields,
		.sort_keys = opts->sort_keys,
		.policy = opts->diff_policy,
		.average = average_of(opts),
		.format = format_of(opts),
		.sort_column = opts->diff_sort_column,
		.counts_outside = opts->event_full,
		.shows_source = opts->srcline,
	};
}

static int report_data(const struct opts *opts, struct trace_data *data, struct uft_err *err)
{
	const struct report_config config = config_of(opts);
	struct report report cleanup(report_deinit) = { 0 };
	struct pipeline_config stages;
	struct pipeline pipe cleanup_pipeline = { 0 };
	struct aggregate agg cleanup(aggregate_deinit) = { 0 };
	struct sink sink cleanup_sink = { 0 };
	struct read_progress progress;
	int ret = report_init(&report, &config, err);

	if (ret < 0)
		return -ERR_USAGE;
	if (opts->srcline)
		report.config.source = &data->modules;
	reader_pipeline_config(opts, &stages);
	report_configure(&report, &stages);
	ret = pipeline_open(&pipe, data, &stages, err);
	if (ret == 0)
		reader_warn_filters(opts, data);
	if (ret == 0)
		ret = reader_open_sink(&sink, err);
	if (ret == 0)
		ret = aggregate_init(&agg, &pipe, err);
	if (ret < 0)
		return ret;
	report_prepare(&report, &agg);

	read_progress_begin(&progress, opts, &pipe, true);
	ret = aggregate_run(&agg, &pipe, reader_threads(opts), err);
	if (ret == 0 && !config.is_by_task)
		ret = left_funcs_read(data, &report.left, err);
	report.first_ns = pipe.first_ns;
	if (ret == 0)
		ret = report_show(&report, &agg, &sink, err);
	ret = read_progress_end(&progress, opts, reader_finish(&sink, &pipe.broken, ret, err));
	if (ret == CMD_DONE && !agg.nr_rows)
		no_result_explain(opts, &pipe);
	return ret;
}

/* One of the recordings that are compared. */
struct compared {
	struct trace_data *data;
	struct trace_data opened; /*
				   * @data points to this member if add_up_other() has opened the
				   * recording
				   */
	struct pipeline pipe;
};

static int add_up(const struct opts *opts, const struct report_diff *diff, struct compared *one,
		  struct aggregate *agg, struct uft_err *err)
{
	struct pipeline_config stages;
	struct read_progress progress;

	reader_pipeline_config(opts, &stages);
	report_diff_configure(diff, &stages);

	int ret = pipeline_open(&one->pipe, one->data, &stages, err);

	if (ret == 0)
		reader_warn_filters(opts, one->data);
	if (ret == 0)
		ret = aggregate_init(agg, &one->pipe, err);
	if (ret < 0)
		return ret;
	report_diff_prepare(diff, agg);
	read_progress_begin(&progress, opts, &one->pipe, true);
	ret = aggregate_run(agg, &one->pipe, reader_threads(opts), err);
	return read_progress_end_compared(&progress, opts, ret);
}

/* Opens the recording in directory @dir, and sums up the calls of this recording in @agg. */
static int add_up_other(const struct opts *opts, const struct report_diff *diff, char *dir,
			struct compared *one, struct aggregate *agg, struct uft_err *err)
{
	struct opts other = *opts;

	other.data_dir = dir;

	int ret = reader_open_records(&one->opened, &other, err);

	if (ret)
		return ret;
	one->data = &one->opened;
	return add_up(opts, diff, one, agg, err);
}

static int compare_all(const struct opts *opts, const struct report_diff *diff,
		       struct compared *all, struct aggregate *aggs, size_t nr, struct sink *sink,
		       struct uft_err *err)
{
	char *dirs cleanup_free = strdup(opts->diff_dirs);
	char *rest = dirs;
	int ret = dirs ? add_up(opts, diff, &all[0], &aggs[0], err) : -ENOMEM;

	for (size_t i = 1; ret == 0 && i < nr; i++)
		ret = add_up_other(opts, diff, strsep(&rest, "\n"), &all[i], &aggs[i], err);
	return ret == 0 ? report_diff_show(diff, aggs, nr, sink, err) : ret;
}

static int report_difference(const struct opts *opts, struct trace_data *data, struct uft_err *err)
{
	const struct diff_config config = diff_config_of(opts);
	struct sink sink cleanup_sink = { 0 };
	struct uft_err broken = { 0 };
	struct report_diff diff;
	size_t nr = 2;

	if (report_diff_init(&diff, &config, err) < 0)
		return -ERR_USAGE;
	for (const char *at = opts->diff_dirs; (at = strchr(at, '\n')); at++)
		nr++;

	struct compared *all cleanup_free = calloc(nr, sizeof(*all));
	struct aggregate *aggs cleanup_free = calloc(nr, sizeof(*aggs));

	if (!all || !aggs)
		return err_set_errno(err, -ENOMEM, "cannot compare %zu recordings", nr);
	all[0].data = data;

	int ret = reader_open_sink(&sink, err);

	if (ret == 0)
		ret = compare_all(opts, &diff, all, aggs, nr, &sink, err);
	for (size_t i = 0; i < nr; i++) {
		if (all[i].pipe.broken.code && !broken.code)
			broken = all[i].pipe.broken;
		aggregate_deinit(&aggs[i]);
		pipeline_close(&all[i].pipe);
		if (all[i].data == &all[i].opened)
			reader_close_data(all[i].data, opts);
	}
	if (ret > 0)
		return ret; /* CMD_NO_DATA or STATUS_INTERRUPTED */
	return reader_finish(&sink, &broken, ret, err);
}

/* Returns the function that the whole report is about, or NULL. */
static const char *only_function(const struct opts *opts)
{
	return opts->callers_of ?: opts->callees_of ?: opts->histogram_of ?: opts->slowest_of;
}

/* Prints the report of --callers or --callees, which is made from the call tree. */
static int report_pairs(const struct opts *opts, struct pipeline *pipe, struct sink *sink,
			struct uft_err *err)
{
	struct tree tree cleanup_tree = { 0 };
	int ret = tree_init(&tree, pipe, err);

	if (ret < 0)
		return ret;
	tree.counts_outside = opts->event_full;
	ret = tree_run(&tree, pipe, reader_threads(opts), err);
	if (ret < 0)
		return ret;
	return report_func_pairs(&tree, only_function(opts),
				 opts->callers_of ? REPORT_CALLERS : REPORT_CALLEES,
				 opts->color_mode, sink, err);
}

/* Prints the report of --histogram or --slowest, which is made from single calls. */
static int report_calls(const struct opts *opts, struct pipeline *pipe, struct sink *sink,
			struct uft_err *err)
{
	struct calls_of_func calls cleanup(calls_of_func_deinit) = {
		.name = only_function(opts),
	};
	struct view view = { calls_of_func_events, &calls };
	int ret = pipeline_run(pipe, &view, err);

	if (ret < 0)
		return ret;
	if (opts->histogram_of)
		return report_histogram(&calls, opts->color_mode, sink, err);
	return report_slowest(&calls, pipe->data->dir, opts->color_mode, sink, err);
}

static int report_one(const struct opts *opts, struct trace_data *data, struct uft_err *err)
{
	struct read_progress progress;
	bool is_pairs = opts->callers_of || opts->callees_of;
	struct pipeline_config stages;
	struct pipeline pipe cleanup_pipeline = { 0 };
	struct sink sink cleanup_sink = { 0 };
	reader_pipeline_config(opts, &stages);
	tree_configure(&stages);

	int ret = pipeline_open(&pipe, data, &stages, err);

	if (ret == 0)
		ret = reader_open_sink(&sink, err);
	if (ret < 0)
		return ret;
	sink_page_begin(&sink, opts->color_mode);
	read_progress_begin(&progress, opts, &pipe, true);
	ret = is_pairs ? report_pairs(opts, &pipe, &sink, err)
		       : report_calls(opts, &pipe, &sink, err);
	sink_page_end(&sink, opts->color_mode);
	return read_progress_end(&progress, opts, reader_finish(&sink, &pipe.broken, ret, err));
}

static int check_report_options(const struct opts *opts, struct uft_err *err)
{
	const struct report_config config = config_of(opts);
	const struct diff_config diff_config = diff_config_of(opts);
	struct report_diff diff;
	struct report report;

	if (opts->report_events || opts->between)
		return events_report_check(opts, &config, err);
	if (opts->diff_dirs && !opts->by_task)
		return report_diff_init(&diff, &diff_config, err);
	return report_init(&report, &config, err) < 0 ? -ERR_USAGE : 0;
}

static int run_report(const struct opts *opts, struct uft_err *err)
{
	const struct report_config config = config_of(opts);
	struct trace_data data;
	int ret = reader_open_records_of(&data, opts, only_function(opts), err);

	if (ret)
		return ret;
	if (opts->diff_dirs && opts->by_task)
		msg_warn(&opts->msg, "--diff is ignored: tasks cannot be compared");
	if (opts->report_events || opts->between)
		ret = events_report(opts, &config, &data, err);
	else if (only_function(opts))
		ret = report_one(opts, &data, err);
	else if (opts->diff_dirs && !opts->by_task)
		ret = report_difference(opts, &data, err);
	else
		ret = report_data(opts, &data, err);
	if (ret == -ENOENT && only_function(opts))
		reader_add_nearest(opts, &data, only_function(opts), err);
	reader_close_data(&data, opts);
	return ret;
}

const struct cmd cmd_report = {
	.name = "report",
	.help = "show which functions took how much time",
	.bit = CMD_REPORT,
	.uses_pager = true,
	.reads_data = true,
	.check = check_report_options,
	.run = run_report,
};
