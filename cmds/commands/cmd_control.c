/* `utrail control`: change what is recorded of a running program. */
#include <errno.h>

#include "cmds/cmd.h"
#include "cmds/control_words.h"
#include "utils/spec/steer.h"

/*
 * The first word after `control` is the target. If there is no word, or if the first word is an
 * order to the recorder (steer_word_find()), the target is the directory of -d.
 */
static int run_control(const struct opts *opts, struct uft_err *err)
{
	bool has_whom = opts->nr_args && !steer_word_find(opts->args[0]);
	const char *whom = has_whom ? opts->args[0] : opts->data_dir;
	struct strbuf words cleanup_strbuf = { 0 };
	struct recorder_name name;

	if (opts_has_given(opts, "match")) {
		strbuf_list_add(&words, "match");
		strbuf_list_add(&words, opts_match_word(opts->match));
	}
	for (int i = has_whom; i < opts->nr_args; i++)
		strbuf_list_add(&words, opts->args[i]);
	if (opts->nr_args == has_whom)
		strbuf_list_add(&words, "status");
	if (strbuf_oom(&words))
		return -ENOMEM;

	int ret = control_find(whom, &name, err);

	return ret < 0 ? ret : control_send(opts, &name, whom, &words, err);
}

const struct cmd cmd_control = {
	.name = "control",
	.args = "[DIR|PID] [WORD [ARGUMENT]]...",
	.help = "change the recording of a running program",
	.bit = CMD_CONTROL,
	.run = run_control,
};
