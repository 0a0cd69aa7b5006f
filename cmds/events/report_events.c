/* Reports about events (see report_events.h). */
#include "cmds/events/report_events.h"

#include "cmds/cmd.h"
#include "cmds/advice/no_result.h"
#include "cmds/reader.h"
#include "cmds/read_progress.h"
#include "utils/base/cleanup.h"
#include "utils/view/report/report_between.h"
#include "utils/view/report/report_events.h"

static int check_events(const struct report_config *config, struct uft_err *err)
{
	struct report_events report cleanup(report_events_deinit) = { 0 };

	return report_events_init(&report, config, err) < 0 ? -ERR_USAGE : 0;
}

static int check_between(const struct opts *opts, const struct report_config *config,
			 struct uft_err *err)
{
	struct report_between between cleanup(report_between_deinit) = { 0 };

	if (opts->fields || opts->sort_keys)
		return err_set(err, -ERR_USAGE,
			       "--between has neither fields to choose nor rows to sort");
	return report_between_init(&between, opts->between, config->color, config->format, err);
}

int events_report_check(const struct opts *opts, const struct report_config *config,
			struct uft_err *err)
{
	return opts->between ? check_between(opts, config, err) : check_events(config, err);
}

/* Runs the pipeline over the events. Their number goes to @nr. */
static int run_events(const struct report_config *config, struct pipeline *pipe, struct sink *sink,
		      uint64_t *nr, struct uft_err *err)
{
	struct report_events report cleanup(report_events_deinit) = { 0 };
	int ret = report_events_init(&report, config, err);

	if (ret == 0)
		ret = report_events_run(&report, pipe, err);
	*nr = report.nr_events;
	return ret < 0 ? ret : report_events_show(&report, sink, err);
}

static int run_between(const struct opts *opts, const struct report_config *config,
		       struct pipeline *pipe, struct sink *sink, uint64_t *nr, struct uft_err *err)
{
	struct report_between between cleanup(report_between_deinit) = { 0 };
	int ret = report_between_init(&between, opts->between, config->color, config->format, err);

	if (ret == 0)
		ret = report_between_run(&between, pipe, err);
	if (ret < 0)
		return ret;
	*nr = between.nr_begun + between.nr_ended + between.nr_without;
	msg_warn_nr(&opts->msg, between.nr_without,
		    "{event is|events are} left out: {it does|they do} not have all of the fields");
	msg_warn_nr(&opts->msg, between.nr_unfollowed,
		    "{beginning was|beginnings were} not followed: too many others had no end");
	report_between_show(&between, sink);
	return 0;
}

int events_report(const struct opts *opts, const struct report_config *config,
		  struct trace_data *data, struct uft_err *err)
{
	struct pipeline_config stages;
	struct pipeline pipe cleanup_pipeline = { 0 };
	struct sink sink cleanup_sink = { 0 };
	struct read_progress progress;
	uint64_t nr = 0;

	reader_pipeline_config(opts, &stages);
	report_events_configure(&stages);

	int ret = pipeline_open(&pipe, data, &stages, err);

	if (ret < 0)
		return ret;
	reader_warn_filters(opts, data);
	ret = reader_open_sink(&sink, err);
	if (ret < 0)
		return ret;
	read_progress_begin(&progress, opts, &pipe, true);
	ret = opts->between ? run_between(opts, config, &pipe, &sink, &nr, err)
			    : run_events(config, &pipe, &sink, &nr, err);
	ret = read_progress_end(&progress, opts, reader_finish(&sink, &pipe.broken, ret, err));
	if (ret == CMD_DONE && !nr)
		no_result_explain(opts, &pipe);
	return ret;
}
