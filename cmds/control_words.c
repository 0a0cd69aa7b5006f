/* Sends the words of `control` or `live -p` to a recorder (see control_words.h). */
#include "cmds/control_words.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/cmd.h"
#include "utils/base/escape.h"
#include "utils/spec/steer.h"

/*
 * The recorder may take long to answer, because it may have to search all functions of a program.
 */
#define ANSWER_TIMEOUT_MS 60000

/*
 * Prints the lines of the answer. A line may contain names that a program has chosen. Therefore
 * msg_list() and msg_warn() escape each line. Warnings go to standard error.
 */
static void print_answer(const struct msg *msg, const struct strbuf *answer)
{
	const char *at = strbuf_str(answer);

	while (*at) {
		size_t len = strcspn(at, "\n");

		if (strncmp(at, STEER_WARNING, strlen(STEER_WARNING)) == 0)
			msg_warn(msg, "%.*s", (int)(len - strlen(STEER_WARNING)),
				 at + strlen(STEER_WARNING));
		else
			msg_list("%.*s", (int)len, at);
		at += len + (at[len] == '\n');
	}
}

/*
 * Returns @text as a process id, or 0 when @text is not a process id. The user writes ./NUMBER for
 * a directory whose name is a number.
 */
static pid_t pid_of(const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	return *text && !*end && pid > 0 && pid <= INT_MAX ? pid : 0;
}

int control_find(const char *text, struct recorder_name *name, struct uft_err *err)
{
	pid_t pid = pid_of(text);
	int ret = pid ? ask_name_of_pid(pid, name) : ask_name_of_dir(text, name);

	if (ret == -ESRCH)
		return err_set(err, ret,
			       "cannot control process %d: no utrail of yours is recording it",
			       pid);
	return ret < 0 ? err_set_errno(err, ret, "cannot control '%s'", text) : 0;
}

/* Finds usage errors before the words are sent to the recorder. */
static int check_words(const struct strbuf *words, struct uft_err *err)
{
	struct steer_change change cleanup_steer_change = { 0 };

	return steer_parse(words, &change, err);
}

int control_send(const struct opts *opts, const struct recorder_name *name, const char *whom,
		 const struct strbuf *words, struct uft_err *err)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct request_answer answer = { 0 };
	int ret = check_words(words, err);

	if (ret < 0)
		return ret;
	ret = ask_named(name, REQUEST_CONTROL, words, ANSWER_TIMEOUT_MS, &answer, &text);
	if (ret < 0)
		return ask_failed(ret, "control", whom, err);
	if (answer.error < 0) {
		struct strbuf why cleanup_strbuf = { 0 };

		escape_addstr(&why, MEDIUM_TERMINAL, strbuf_str(&text));
		return err_set(err, answer.error, "cannot control '%s': %s", whom,
			       strbuf_str(&why));
	}
	print_answer(&opts->msg, &text);
	return CMD_DONE;
}

static void add_word(struct strbuf *words, const char *word, const char *arg)
{
	strbuf_list_add(words, word);
	if (arg)
		strbuf_list_add(words, arg);
}

/* Adds the options that the user has given; defaults of `live` do not count. */
static void add_options(const struct opts *opts, struct strbuf *words)
{
	static const char *const option_words[SPEC_OPTIONS] = {
		[SPEC_FILTER] = "filter",
		[SPEC_CALLER] = "caller",
		[SPEC_TRIGGER] = "trigger",
	};
	struct strbuf text cleanup_strbuf = { 0 };

	if (opts_has_given(opts, "match"))
		add_word(words, "match", opts_match_word(opts->match));
	for (unsigned i = 0; i < SPEC_OPTIONS; i++) {
		if (option_words[i] && opts->specs[i])
			add_word(words, option_words[i], opts->specs[i]);
	}
	/* patch_specs has the functions of -P and of -U. A '!' precedes each function of -U. */
	if (opts->patch_specs)
		add_word(words, "patch", opts->patch_specs);
	if (opts->trace_include_spec)
		add_word(words, "trace-include", opts->trace_include_spec);
	if (opts->trace_exclude_spec)
		add_word(words, "trace-exclude", opts->trace_exclude_spec);
	if (opts_has_given(opts, "depth")) {
		strbuf_addf(&text, "%u", opts->depth);
		add_word(words, "depth", strbuf_str(&text));
	}
	strbuf_reset(&text);
	if (opts_has_given(opts, "time-filter")) {
		strbuf_addf(&text, "%llu", (unsigned long long)opts->time_filter_ns);
		add_word(words, "time", strbuf_str(&text));
	}
	strbuf_reset(&text);
	if (opts_has_given(opts, "size-filter")) {
		strbuf_addf(&text, "%llu", (unsigned long long)opts->size_filter);
		add_word(words, "size", strbuf_str(&text));
	}
	if (opts_has_given(opts, "trace"))
		add_word(words, opts->trace_on ? "on" : "off", NULL);
}

bool control_is_recorded(const char *text)
{
	struct recorder_name name;
	pid_t pid = pid_of(text);

	return pid && ask_name_of_pid(pid, &name) == 0;
}

int control_live(const struct opts *opts, struct uft_err *err)
{
	struct strbuf words cleanup_strbuf = { 0 };
	struct recorder_name name;

	add_options(opts, &words);
	/*
	 * If there are no words to send, the command only says, like uftrace, that the process is
	 * being recorded.
	 */
	if (!words.len) {
		msg_warn(
			&opts->msg,
			"process %s is being recorded: live --pid changes what is recorded "
			"of it, by -F, -N, -C, -T, -P, -U, -D, -t, -Z, --trace, --trace-include or "
			"--trace-exclude ('utrail control %s status' shows what is in force)",
			opts->pids, opts->pids);
		return CMD_DONE;
	}

	int ret = control_find(opts->pids, &name, err);

	return ret < 0 ? ret : control_send(opts, &name, opts->pids, &words, err);
}
