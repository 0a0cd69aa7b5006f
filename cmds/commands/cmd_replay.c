/* utrail replay: print every call of a recording. */

#include "cmds/cmd.h"
#include "cmds/advice/no_result.h"
#include "cmds/terminal/follow.h"
#include "cmds/reader.h"
#include "cmds/read_progress.h"
#include "utils/view/replay/replay.h"

/*
 * Warns when the output lacks recorded arguments or return values. The reader skips values whose
 * types are unknown. Without the warning, the calls would seem to have no arguments.
 */
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

static int grow_replay(void *self, struct uft_err *err)
{
	return replay_grow(self, err);
}

static int pause_showing(void *self, uint64_t since_ns)
{
	return replay_pause(self, since_ns);
}

/* @follow: NULL when the recording does not grow */
static int replay_data(const struct opts *opts, struct trace_data *data, struct follow *follow,
		       struct uft_err *err)
{
	struct replay_config config = {
		.color = opts->color_mode,
		.fields = opts->fields,
		.is_flat = opts->flat,
		.merges_leaves = opts->merge_leaves,
		.shows_args = opts->show_args,
		.shows_source = opts->srcline,
		.shows_inlined = opts->inlined,
		.shows_comments = opts->show_comments,
		.shows_callsite = opts->show_callsite,
		.shows_libname = opts->show_libname,
		.is_column_view = opts->column_view,
		.column_offset = opts->column_offset,
		.has_task_newline = opts->task_newline,
	};
	struct pipeline_config stages;
	struct pipeline pipe cleanup_pipeline = { 0 };
	struct sink sink cleanup_sink = { 0 };
	struct replay replay;
	struct read_progress progress;

	reader_pipeline_config(opts, &stages);
	stages.reads_extern = true;
	stages.stages.wants = opts->flat ? STAGE_WANTS_CALLS : STAGE_WANTS_DEPTHS;

	int ret = pipeline_open(&pipe, data, &stages, err);

	if (ret == 0 && !follow)
		reader_warn_filters(opts, data);
	if (ret == 0)
		ret = reader_open_sink(&sink, err);
	if (ret == 0)
		ret = replay_init(&replay, &config, &pipe, &sink, err);
	if (ret < 0)
		return ret;

	const struct follow_view shown = {
		.view = { .events = replay_events, .mixed = replay_mixed, .self = &replay },
		.grow = grow_replay,
		.pause = pause_showing,
	};

	read_progress_begin(&progress, opts, &pipe, false);
	ret = follow ? follow_run(follow, &pipe, &shown, err)
		     : pipeline_run(&pipe, &shown.view, err);
	replay_finish(&replay);
	replay_deinit(&replay);
	ret = read_progress_end(&progress, opts, reader_finish(&sink, &pipe.broken, ret, err));
	if (follow)
		reader_warn_filters(opts, data);
	reader_warn_kernel(opts, data, &pipe);
	if (ret == CMD_DONE) {
		note_unknown_payload(opts, &pipe);
		if (!atomic_load(&pipe.has_shown))
			no_result_explain(opts, &pipe);
	}
	return ret;
}

static int check_replay(const struct opts *opts, struct uft_err *err)
{
	return replay_check_fields(opts->fields, err);
}

static int run_replay(const struct opts *opts, struct uft_err *err)
{
	struct trace_data data;
	struct follow follow;
	bool grows;
	int ret = follow_open_records(&follow, &grows, &data, opts, err);

	if (ret)
		return ret;
	ret = replay_data(opts, &data, grows ? &follow : NULL, err);
	reader_close_data(&data, opts);
	return ret;
}

const struct cmd cmd_replay = {
	.name = "replay",
	.help = "show the calls in the order in which they were made",
	.bit = CMD_REPLAY,
	.uses_pager = true,
	.reads_data = true,
	.check = check_replay,
	.run = run_replay,
};
