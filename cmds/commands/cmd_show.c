/* utrail show: look at a recording in the browser. */
#include "cmds/cmd.h"
#include "cmds/show/show.h"

const struct cmd cmd_show = {
	.name = "show",
	.args = "[DIR]",
	.help = "look at a recording in the browser: timeline, flame graph, functions",
	.bit = CMD_SHOW,
	.reads_data = true,
	.check = show_check,
	.run = show_run,
};
