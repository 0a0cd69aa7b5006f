/* `utrail snapshot`: make a running flight recording save its rings now. */
#include <errno.h>

#include "cmds/terminal/ask.h"
#include "cmds/cmd.h"

static int run_snapshot(const struct opts *opts, struct uft_err *err)
{
	const char *dir = opts->data_dir;
	struct request_answer answer = { 0 };
	int ret = ask_recorder(dir, REQUEST_SAVE, -1, &answer);

	if (ret == 0 && answer.error == -EOPNOTSUPP)
		return err_set(
			err, -EOPNOTSUPP,
			"cannot save '%s': it is recorded without --flight, so everything is "
			"saved as it comes",
			dir);
	if (ret == 0)
		ret = answer.error;
	if (ret == -ENOENT)
		return err_set_errno(err, ret, "cannot open '%s'", dir);
	if (ret < 0)
		return ask_failed(ret, "save", dir, err);
	msg_list("saved what %u tasks did last into '%s'", answer.nr_tasks, dir);
	return CMD_DONE;
}

const struct cmd cmd_snapshot = {
	.name = "snapshot",
	.help = "save a flight recording that is going on",
	.bit = CMD_SNAPSHOT,
	.run = run_snapshot,
};
