/* utrail report: add up the calls of a recording. */
#include <errno.h>

#include "cmds/cmd.h"
#include "cmds/reader.h"
#include "utils/view/report.h"

static enum report_average average_of(const struct opts *opts)
{
	if (opts->average_total)
		return REPORT_AVERAGE_TOTAL;
	return opts->average_self ? REPORT_AVERAGE_SELF : REPORT_AVERAGE_NONE;
}

static int report_data(const struct opts *opts, const struct report *report,
		       struct trace_data *data, struct uft_err *err)
{
	struct pipeline_config stages;
	struct pipeline pipe cleanup_pipeline = { 0 };
	struct aggregate agg cleanup(aggregate_deinit) = { 0 };
	struct sink sink cleanup_sink = { 0 };

	reader_pipeline_config(opts, &stages);
	report_configure(report, &stages);

	int ret = pipeline_open(&pipe, data, &stages, err);

	if (ret == 0)
		ret = reader_open_sink(&sink, err);
	if (ret == 0)
		ret = aggregate_init(&agg, &pipe, err);
	if (ret < 0)
		return ret;
	report_prepare(report, &agg);

	struct view view = { aggregate_events, &agg };

	ret = pipeline_run(&pipe, &view, err);
	if (ret == 0)
		ret = report_show(report, &agg, &sink, err);
	return reader_finish(&sink, &pipe.broken, ret, err);
}

static struct report_config config_of(const struct opts *opts)
{
	return (struct report_config){
		.color = opts->color_mode,
		.fields = opts->fields,
		.sort_keys = opts->sort_keys,
		.average = average_of(opts),
		.is_by_task = opts->by_task,
		.is_csv = opts->format == OPTS_FORMAT_CSV,
		.counts_outside = opts->event_full,
	};
}

static int check(const struct opts *opts, struct uft_err *err)
{
	const struct report_config config = config_of(opts);
	struct report report;

	return report_init(&report, &config, err) < 0 ? -ERR_USAGE : 0;
}

static int run(const struct opts *opts, struct uft_err *err)
{
	const struct report_config config = config_of(opts);
	struct report report;
	struct trace_data data;

	if (report_init(&report, &config, err) < 0)
		return -ERR_USAGE;

	int ret = reader_open_records(&data, opts, err);

	if (ret)
		return ret;
	ret = report_data(opts, &report, &data, err);
	data_close(&data);
	return ret;
}

const struct cmd cmd_report = {
	.name = "report",
	.help = "show which functions took how much time",
	.bit = CMD_REPORT,
	.uses_pager = true,
	.check = check,
	.run = run,
};
