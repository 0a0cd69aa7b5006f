/*
 * `utrail import`: make a recording from kernel records that trace-cmd has written, or add them to
 * a recording.
 */
#include "cmds/cmd.h"
#include "cmds/import/kernel_trace.h"

static int check_import(const struct opts *opts, struct uft_err *err)
{
	if (opts->nr_args == 0)
		return err_set(err, -ERR_USAGE, "import needs the name of a trace.dat");
	if (opts->nr_args > 1)
		return err_set(err, -ERR_USAGE, "import takes one trace.dat, not also '%s'",
			       opts->args[1]);
	if (opts->import_into && opts_has_typed(opts, "data"))
		return err_set(err, -ERR_USAGE, "--into and --data exclude each other");
	return 0;
}

const struct cmd cmd_import = {
	.name = "import",
	.args = "FILE",
	.help = "make a recording from a trace.dat file, or add the file to a recording",
	.bit = CMD_IMPORT,
	.check = check_import,
	.run = kernel_trace_import,
};
