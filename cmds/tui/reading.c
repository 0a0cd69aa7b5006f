/* Opens the recording and adds up its calls (see reading.h). */
#include "cmds/tui/reading.h"

#include <pthread.h>

#include "cmds/cmd.h"
#include "cmds/reader.h"

int reading_open_pipeline(struct pipeline *pipe, struct trace_data *data,
			  const struct pipeline_config *config, struct uft_err *err)
{
	static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&one_at_a_time);

	int ret = pipeline_open(pipe, data, config, err);

	pthread_mutex_unlock(&one_at_a_time);
	return ret;
}

static int open_tree(struct tui_reading *reading, struct uft_err *err)
{
	const struct opts *opts = reading->opts;
	struct pipeline_config stages;

	reader_pipeline_config(opts, &stages);
	tree_configure(&stages);
	stages.stages.closes_open_calls = true;

	int ret = reading_open_pipeline(&reading->pipe, &reading->data, &stages, err);

	if (ret == 0 && !reading->is_quiet)
		reader_warn_filters(opts, &reading->data);
	if (ret == 0)
		ret = tree_init(&reading->tree, &reading->pipe, err);
	if (ret < 0)
		return ret;
	reading->tree.wants_details = true;
	reading->tree.counts_outside = opts->event_full;
	return 0;
}

/* Opens the recording like reader_open_records(), but without messages. */
static int open_quietly(struct trace_data *data, const struct opts *opts, struct uft_err *err)
{
	int ret = data_open(data, reader_data_dir(opts), opts->demangle, err);

	if (ret < 0)
		return ret;
	data->modules.syms_dir = opts->syms_dir;
	ret = reader_check_records(data, opts, err);
	if (ret)
		data_close(data);
	return ret;
}

int reading_open(struct tui_reading *reading, const struct opts *opts, bool is_quiet,
		 struct uft_err *err)
{
	reading->opts = opts;
	reading->is_quiet = is_quiet;

	int ret = is_quiet ? open_quietly(&reading->data, opts, err)
			   : reader_open_records(&reading->data, opts, err);

	if (ret)
		return ret;
	reading->is_open = true;
	return open_tree(reading, err);
}

void reading_close(struct tui_reading *reading)
{
	if (!reading->is_open)
		return;
	aggregate_deinit(&reading->agg);
	pipeline_close(&reading->report_pipe);
	tree_deinit(&reading->tree);
	pipeline_close(&reading->pipe);
	if (reading->is_quiet)
		data_close(&reading->data);
	else
		reader_close_data(&reading->data, reading->opts);
	*reading = (struct tui_reading){ 0 };
}

static void begin_run(struct tui_reading *reading, struct pipeline *pipe)
{
	atomic_store(&reading->active, pipe);
	if (atomic_load(&reading->stops))
		atomic_store(&pipe->is_stopped, true);
}

int reading_run_tree(struct tui_reading *reading, struct uft_err *err)
{
	begin_run(reading, &reading->pipe);

	int ret = tree_run(&reading->tree, &reading->pipe, reader_threads(reading->opts), err);

	atomic_store(&reading->active, NULL);
	return ret;
}

int reading_add_up(struct tui_reading *reading, const struct report *report, struct uft_err *err)
{
	struct aggregate *agg = &reading->agg;
	struct pipeline_config stages;

	aggregate_deinit(agg);
	pipeline_close(&reading->report_pipe);
	reader_pipeline_config(reading->opts, &stages);
	report_configure(report, &stages);

	int ret = reading_open_pipeline(&reading->report_pipe, &reading->data, &stages, err);

	if (ret == 0)
		ret = aggregate_init(agg, &reading->report_pipe, err);
	if (ret < 0)
		return ret;
	report_prepare(report, agg);
	begin_run(reading, &reading->report_pipe);
	ret = aggregate_run(agg, &reading->report_pipe, reader_threads(reading->opts), err);
	atomic_store(&reading->active, NULL);
	return ret;
}

void reading_stop(struct tui_reading *reading)
{
	struct pipeline *pipe;

	atomic_store(&reading->stops, true);
	pipe = atomic_load(&reading->active);
	if (pipe)
		atomic_store(&pipe->is_stopped, true);
}
