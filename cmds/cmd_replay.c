/* utrail replay: show every call of a recording. */
#include "cmds/cmd.h"
#include "cmds/reader.h"
#include "utils/view/replay.h"

/* Arguments whose types nobody knows are left out; that must not look like "no arguments". */
static void note_unknown_payload(const struct opts *opts, const struct pipeline *pipe)
{
	for (size_t i = 0; opts->show_args && i < pipe->nr_lanes; i++) {
		if (pipe->lanes[i].user.has_unknown_payload) {
			msg_warn(&opts->msg,
				 "arguments and return values were recorded but are not shown");
			return;
		}
	}
}

static int replay_data(const struct opts *opts, struct trace_data *data, struct uft_err *err)
{
	struct replay_config config = {
		.color = opts->color_mode,
		.fields = opts->fields,
		.is_flat = opts->flat,
		.merges_leaves = opts->merge_leaves,
		.shows_comments = opts->show_comments,
		.shows_libname = opts->show_libname,
		.is_column_view = opts->column_view,
		.column_offset = opts->column_offset,
		.has_task_newline = opts->task_newline,
	};
	struct pipeline_config stages;
	struct pipeline pipe cleanup_pipeline = { 0 };
	struct sink sink cleanup_sink = { 0 };
	struct replay replay;

	reader_pipeline_config(opts, &stages);
	stages.reads_extern = true;
	stages.stages.wants_indent = !opts->flat;
	stages.stages.is_off = !opts->trace_on;

	int ret = pipeline_open(&pipe, data, &stages, err);

	if (ret == 0)
		ret = reader_open_sink(&sink, err);
	if (ret == 0)
		ret = replay_init(&replay, &config, &pipe, &sink, err);
	if (ret < 0)
		return ret;

	struct view view = { replay_events, &replay };

	ret = pipeline_run(&pipe, &view, err);
	replay_finish(&replay);
	replay_deinit(&replay);
	ret = reader_finish(&sink, &pipe.broken, ret, err);
	if (ret == CMD_DONE)
		note_unknown_payload(opts, &pipe);
	return ret;
}

static int check(const struct opts *opts, struct uft_err *err)
{
	return replay_check_fields(opts->fields, err);
}

static int run(const struct opts *opts, struct uft_err *err)
{
	struct trace_data data;
	int ret = reader_open_records(&data, opts, err);

	if (ret)
		return ret;
	ret = replay_data(opts, &data, err);
	data_close(&data);
	return ret;
}

const struct cmd cmd_replay = {
	.name = "replay",
	.help = "show the calls in the order in which they were made",
	.bit = CMD_REPLAY,
	.uses_pager = true,
	.check = check,
	.run = run,
};
