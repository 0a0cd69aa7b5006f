/* `utrail record`: records a program. With -S, a script gets the calls while they are recorded. */
#include "cmds/cmd.h"

static int run_recording(const struct opts *opts, struct uft_err *err)
{
	const bool is_question = opts->dry_run || opts->list_functions;

	return opts->script && !is_question ? live_run_script(opts, err) : record_run(opts, err);
}

const struct cmd cmd_record = {
	.name = "record",
	.args = "PROGRAM [ARGUMENT...]",
	.help = "run a program and save the trace data",
	.bit = CMD_RECORD,
	.needs_program = true,
	.run = run_recording,
};
