/* utrail script: pass every call of a recording to functions of a user's script. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/advice/no_result.h"
#include "cmds/terminal/follow.h"
#include "cmds/reader.h"
#include "cmds/read_progress.h"
#include "config.h"
#include "utils/script/script.h"

static void tell_script_line(void *self, const char *line)
{
	/* Without the flush, @line could come before earlier output of the script. */
	fflush(stdout);
	msg_line(self, "%s", line);
}

/*
 * Warns if the script has options for recording. The script may need values that are recorded only
 * with these options, and the recording may lack such values.
 */
static void note_options(const struct opts *opts)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct uft_err err = { 0 };

	if (script_options(opts->script, &text, &err) == 0 && text.len)
		msg_warn(&opts->msg,
			 "-A or -R might not work: the options in '%s' are for recording, and "
			 "ignored: %s",
			 opts->script, strbuf_str(&text));
}

/* @follow: NULL when the recording does not grow */
static int run_view(const struct opts *opts, struct script *script, struct pipeline *pipe,
		    struct follow *follow, struct uft_err *err)
{
	const struct follow_view shown = {
		.view = { .events = script_events, .mixed = script_mixed, .self = script },
	};
	struct read_progress progress;
	int ret = 0;

	read_progress_begin(&progress, opts, pipe, false);
	script_begin(script);

	if (!script->is_over)
		ret = follow ? follow_run(follow, pipe, &shown, err)
			     : pipeline_run(pipe, &shown.view, err);
	if (ret >= 0 || !err->code)
		script_end(script);
	if (!err->code && script->is_over)
		ret = script->status;
	else if (ret == 0 && pipe->broken.code)
		ret = err_set(err, pipe->broken.code, "%s; the part before that was shown",
			      pipe->broken.text);
	if (ret == 0 && script->nr_failed)
		ret = CMD_FAILED;
	return read_progress_end(&progress, opts, ret);
}

static int script_data(const struct opts *opts, struct trace_data *data, struct follow *follow,
		       struct uft_err *err)
{
	const struct script_config config = {
		.version = UTRAIL_VERSION_TEXT,
		.path = opts->script,
		.args = opts->args,
		.nr_args = opts->nr_args,
		.match = opts->match,
		.shows_args = opts->show_args,
		.is_recording = opts_is_of_live(opts),
		.tell = tell_script_line,
		.self = (void *)&opts->msg,
	};
	struct pipeline_config stages;
	struct pipeline pipe cleanup_pipeline = { 0 };
	struct script script cleanup_script = { 0 };

	reader_pipeline_config(opts, &stages);
	stages.stages.wants = STAGE_WANTS_DEPTHS;
	if (pipeline_open(&pipe, data, &stages, err) < 0)
		return CMD_FAILED;
	if (!follow)
		reader_warn_filters(opts, data);
	read_progress_opened();

	int ret = script_open(&script, &config, data, err);

	if (ret < 0)
		return script.is_over ? script.status : CMD_NO_DATA;
	ret = run_view(opts, &script, &pipe, follow, err);
	reader_warn_kernel(opts, data, &pipe);
	if (ret == CMD_DONE && !script.is_over && !atomic_load(&pipe.has_shown))
		no_result_explain(opts, &pipe);
	return ret;
}

static int check_file(const struct opts *opts, struct uft_err *err)
{
	if (opts->script)
		return script_check(opts->script, err);
	return err_set(err, -EINVAL,
		       "script needs a script to run: utrail script -S FILE [OPTION...] "
		       "[ARGUMENT...]");
}

static int run_script(const struct opts *opts, struct uft_err *err)
{
	struct trace_data data;
	struct follow follow;
	bool grows;

	if (check_file(opts, err) < 0)
		return CMD_NO_DATA;

	int ret = follow_open_records(&follow, &grows, &data, opts, err);

	if (ret)
		return ret;
	if (!opts_is_of_live(opts) && !opts->live_record)
		note_options(opts);
	ret = script_data(opts, &data, grows ? &follow : NULL, err);
	reader_close_data(&data, opts);
	return ret;
}

static int run_record(const struct opts *opts, struct uft_err *err)
{
	return check_file(opts, err) < 0 ? CMD_NO_DATA : live_record_then_script(opts, err);
}

const struct cmd cmd_script = {
	.name = "script",
	.args = "[ARGUMENT...]",
	.help = "run a script in Python or Lua over the calls of a recording",
	.bit = CMD_SCRIPT,
	.keeps_rest = true,
	.uses_pager = true,
	.reads_data = true,
	.run = run_script,
};

/*
 * `script --record` takes the options of `script` and `live`. The words after the options are the
 * program.
 */
const struct cmd cmd_script_record = {
	.name = "script",
	.args = "PROGRAM [ARGUMENT...]",
	.help = "record a program, and run a script in Python or Lua over its calls",
	.bit = CMD_SCRIPT | CMD_LIVE,
	.needs_program = true,
	.run = run_record,
};
