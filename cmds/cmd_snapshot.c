/* `utrail snapshot`: have a flight recording that is going on saved now. */
#include <errno.h>
#include <stdio.h>

#include "cmds/ask.h"
#include "cmds/cmd.h"

static int run_snapshot(const struct opts *opts, struct uft_err *err)
{
	const char *dir = opts->data_dir;
	struct request_answer answer = { 0 };
	int ret = ask_recorder(dir, REQUEST_SAVE, -1, &answer);

	if (ret == 0)
		ret = answer.error;
	switch (ret) {
	case 0:
		msg_list("saved what %u tasks did last into '%s'", answer.nr_tasks, dir);
		return CMD_DONE;
	case -ENOTCONN:
		return err_set(err, ret, "cannot save '%s': no utrail is recording into it", dir);
	case -EPIPE:
		return err_set(err, ret, "cannot save '%s': its recorder gave no answer", dir);
	case -EOPNOTSUPP:
		return err_set(
			err, ret,
			"cannot save '%s': it is recorded without --flight, so everything is "
			"saved as it comes",
			dir);
	}
	return err_set_errno(err, ret, "cannot open '%s'", dir);
}

const struct cmd cmd_snapshot = {
	.name = "snapshot",
	.help = "save a flight recording that is going on",
	.bit = CMD_SNAPSHOT,
	.run = run_snapshot,
};
