/* The list of all commands. */
#include "cmds/cmd.h"

#include <string.h>

const struct cmd *const all_cmds[] = {
	&cmd_record,  &cmd_live,   &cmd_replay, &cmd_report, &cmd_graph,    &cmd_tui,
	&cmd_show,    &cmd_info,   &cmd_dump,	&cmd_script, &cmd_snapshot, &cmd_control,
	&cmd_convert, &cmd_events, &cmd_import, &cmd_build,  NULL,
};

const struct cmd *cmd_find(const char *name)
{
	for (const struct cmd *const *cmd = all_cmds; *cmd; cmd++) {
		if (strcmp((*cmd)->name, name) == 0)
			return *cmd;
	}
	return NULL;
}
