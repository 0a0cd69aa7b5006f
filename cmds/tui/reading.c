/* The recording, opened and added up (see reading.h). */
#include "cmds/tui/reading.h"

#include "cmds/cmd.h"
#include "cmds/reader.h"
#include "cmds/read_progress.h"

static int open_tree(struct tui_reading *reading, struct uft_err *err)
{
	const struct opts *opts = reading->opts;
	struct pipeline_config stages;
	struct read_progress watch;

	reader_pipeline_config(opts, &stages);
	tree_configure(&stages);
	stages.stages.closes_open_calls = true;

	int ret = pipeline_open(&reading->pipe, &reading->data, &stages, err);

	if (ret == 0)
		reader_warn_filters(opts, &reading->data);
	if (ret == 0)
		ret = tree_init(&reading->tree, &reading->pipe, err);
	if (ret < 0)
		return ret;
	reading->tree.wants_details = true;
	reading->tree.counts_outside = opts->event_full;
	read_progress_begin(&watch, opts, &reading->pipe, true);
	ret = tree_run(&reading->tree, &reading->pipe, reader_threads(opts), err);
	return read_progress_end(&watch, opts, ret);
}

int reading_open(struct tui_reading *reading, const struct opts *opts, struct uft_err *err)
{
	reading->opts = opts;

	int ret = reader_open_records(&reading->data, opts, err);

	if (ret)
		return ret;
	reading->is_open = true;
	return open_tree(reading, err);
}

void reading_close(struct tui_reading *reading)
{
	if (!reading->is_open)
		return;
	if (reading->report_pipe.data)
		pipeline_close(&reading->report_pipe);
	tree_deinit(&reading->tree);
	if (reading->pipe.data)
		pipeline_close(&reading->pipe);
	reader_close_data(&reading->data, reading->opts);
	*reading = (struct tui_reading){ 0 };
}

int reading_add_up(struct tui_reading *reading, const struct report *report, struct aggregate *agg,
		   struct uft_err *err)
{
	struct pipeline_config stages;

	if (agg->pipe)
		aggregate_deinit(agg);
	*agg = (struct aggregate){ 0 };
	if (reading->report_pipe.data)
		pipeline_close(&reading->report_pipe);
	reading->report_pipe = (struct pipeline){ 0 };
	reader_pipeline_config(reading->opts, &stages);
	report_configure(report, &stages);

	int ret = pipeline_open(&reading->report_pipe, &reading->data, &stages, err);

	if (ret == 0)
		ret = aggregate_init(agg, &reading->report_pipe, err);
	if (ret < 0)
		return ret;
	report_prepare(report, agg);
	return aggregate_run(agg, &reading->report_pipe, reader_threads(reading->opts), err);
}
