/* utrail tui: explore a recording on the screen. */
#include "cmds/cmd.h"
#include "cmds/tui/tui.h"

const struct cmd cmd_tui = {
	.name = "tui",
	.help = "look around in a recording, on the screen",
	.bit = CMD_TUI,
	.reads_data = true,
	.check = tui_check,
	.run = tui_run,
};
