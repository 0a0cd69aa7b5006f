/* The program: parse the command line, run the command, print the error, choose the status. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "cmds/complete.h"
#include "cmds/debug_facts.h"
#include "cmds/help/help.h"
#include "cmds/events/list_events.h"
#include "cmds/terminal/msg.h"
#include "cmds/opts.h"
#include "cmds/pager.h"
#include "cmds/record/run/launch.h"
#include "cmds/ulimits.h"
#include "utils/base/cleanup.h"
#include "utils/base/clock.h"
#include "utils/base/outfile.h"

/*
 * True when the environment variable is set, which means that it is neither empty nor "0". Users
 * set such variables for all programs (no-color.org, bixense.com/clicolors).
 */
static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value && strcmp(value, "0") != 0;
}

static bool wants_color(const struct opts *opts, int fd)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (opts->color != OPTS_COLOR_AUTO)
		return opts->color == OPTS_COLOR_ON;
	if (no_color && *no_color)
		return false;
	if (is_set("CLICOLOR_FORCE"))
		return true;

	return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

/*
 * Decides by the terminal whether colours are used. Call it before a pager replaces the terminal as
 * stdout.
 */
static void choose_colors(struct opts *opts)
{
	bool on = wants_color(opts, STDOUT_FILENO);

	if (opts->color == OPTS_COLOR_AUTO && opts->use_pager && pager_is_plain())
		on = false;
	opts->color_mode = on ? COLOR_MODE_TERM : COLOR_MODE_OFF;
	if (opts->format == OPTS_FORMAT_HTML)
		opts->color_mode = COLOR_MODE_HTML;
	opts->msg.has_color = wants_color(opts, STDERR_FILENO);
}

static int open_logfile(struct opts *opts, struct uft_err *err)
{
	if (!opts->logfile)
		return 0;

	int fd cleanup_fd = outfile_append(opts->logfile, 0644, err);

	if (fd < 0)
		return fd;
	opts->msg.file = fdopen(fd, "a");
	if (!opts->msg.file)
		return err_set_errno(err, -errno, "cannot open log file '%s'", opts->logfile);
	take_fd(&fd);
	return 0;
}

/* Prints the requested text, or the usage if no text was requested. */
static int show_text(const struct opts *opts, struct pager *pager)
{
	struct strbuf text cleanup_strbuf = { 0 };

	if (opts->show == OPTS_SHOW_VERSION) {
		help_version(&text);
	} else if (opts->show == OPTS_SHOW_HELP) {
		help_common(opts->cmd, &text);
	} else if (opts->show == OPTS_SHOW_ALL_HELP) {
		help_full(opts->cmd, &text);
	} else {
		help_usage(&text);
	}
	/*
	 * The pager is opened after the text is made, because with a pager the width of the
	 * terminal is unknown.
	 */
	if (opts->show == OPTS_SHOW_HELP || opts->show == OPTS_SHOW_ALL_HELP)
		pager_open(pager, opts);
	fputs(strbuf_str(&text), stdout);
	return CMD_DONE;
}

/*
 * Reports a missing program. In `record -F ./abc`, for example, the option has taken the name of
 * the program as its argument.
 */
static int report_no_program(const struct opts *opts, struct uft_err *err)
{
	const char *name = opts->cmd ? opts->cmd->name : "utrail";
	char path[PATH_MAX];

	if (opts->last && launch_find_program(opts->last_text, path, &(struct uft_err){ 0 }) == 0)
		return err_set(
			err, -ERR_USAGE,
			"%s needs a program to run: '%s' was taken for the %s of option '--%s'",
			name, opts->last_text, opts->last->arg, opts->last->name);
	return err_set(err, -ERR_USAGE,
		       "%s needs a program to run: utrail %s [OPTION...] PROGRAM [ARGUMENT...]",
		       name, opts->cmd ? opts->cmd->name : "[COMMAND]");
}

/* Prints facts about the command line, for --debug. */
static void tell_command(const struct opts *opts)
{
	const struct msg *msg = &opts->msg;

	msg_warn_silent(msg, opts->cmd->name, opts->cmd->reads_data, opts->cmd->needs_program);
	msg_debug(msg, MSG_UTRAIL, 1, "command '%s'", opts->cmd->name);
	if (opts->opt_file)
		msg_debug(msg, MSG_UTRAIL, 1, "options are also from '%s'", opts->opt_file);
	if (opts->syms_dir)
		msg_debug(msg, MSG_UTRAIL, 1, "symbols are looked for in '%s' first",
			  opts->syms_dir);
}

/* Runs the command. With --debug, its duration is printed. */
static int run_and_tell(const struct opts *opts, struct uft_err *err)
{
	const pid_t self = getpid();
	uint64_t began_ns = clock_now_ns(CLOCK_MONOTONIC);
	int status = opts->cmd->run(opts, err);

	/* `live` may fork. A child that returns here must print nothing. */
	if (getpid() == self)
		msg_debug(&opts->msg, MSG_UTRAIL, 1, "'%s' took %s%s", opts->cmd->name,
			  debug_facts_time(clock_now_ns(CLOCK_MONOTONIC) - began_ns).text,
			  status < 0 ? " and failed" : "");
	return status;
}

static int run_command(const struct opts *opts, struct pager *pager, struct uft_err *err)
{
	const struct cmd *cmd = opts->cmd;

	if (opts->show)
		return show_text(opts, pager);
	if (cmd && opts->complete) {
		complete_print(opts);
		return CMD_DONE;
	}
	if (cmd && cmd->needs_program && !cmd->may_read && opts->list_events)
		return list_events(opts, err);
	if (!cmd && opts->argc <= 1)
		return show_text(opts, pager);
	if (!cmd || (cmd->needs_program && !cmd->may_read && opts->nr_args == 0 && !opts->pids))
		return report_no_program(opts, err);
	opts_warn_unused(opts);
	tell_command(opts);
	if (!cmd->args && opts->nr_args)
		msg_warn(&opts->msg,
			 "'%s' and the words after it are ignored: %s takes options only",
			 opts->args[0], cmd->name);

	int ret = cmd->check ? cmd->check(opts, err) : 0;

	if (ret < 0)
		return ret;
	/*
	 * There is no pager with --follow, for HTML pages of `dump`, or when --format names the
	 * format of an exporter.
	 */
	if (cmd->uses_pager && !opts->follow && opts->format < OPTS_FORMAT_EXPORT &&
	    !(opts->format == OPTS_FORMAT_HTML && cmd->bit == CMD_DUMP))
		pager_open(pager, opts);
	return run_and_tell(opts, err);
}

/* Reports output that could not be written. Without a report, the loss would look like success. */
static int flush_output(struct uft_err *err)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	return err_set_errno(err, errno ? -errno : -EIO, "cannot write the output");
}

/*
 * If utrail was started with SIGCHLD ignored, sets the default action of SIGCHLD, and returns true.
 * Otherwise returns false. While SIGCHLD is ignored, the kernel discards the exit statuses of
 * utrail's children.
 */
static bool stop_ignoring_children(void)
{
	struct sigaction children;

	if (sigaction(SIGCHLD, NULL, &children) < 0 || children.sa_handler != SIG_IGN)
		return false;
	signal(SIGCHLD, SIG_DFL);
	return true;
}

static int run_main(int argc, char **argv)
{
	struct opts opts cleanup_opts;
	struct pager pager = { 0 };
	struct uft_err err = { 0 };

	opts_init(&opts);

	int status = opts_parse(&opts, argc, argv, &err);

	opts.ignores_children = stop_ignoring_children();
	if (status == 0)
		status = open_logfile(&opts, &err);
	if (status == 0) {
		choose_colors(&opts);
		status = run_command(&opts, &pager, &err);
	}

	int flushed = flush_output(&err);

	if (flushed < 0 && status == CMD_DONE)
		status = flushed;
	pager_close(&pager);
	if (err.code)
		msg_line(&opts.msg, "%s%s", err.text, limit_behind(err.code));
	if (status == -ERR_USAGE)
		return CMD_USAGE;
	return status < 0 ? CMD_FAILED : status;
}

int main(int argc, char **argv)
{
	return run_with_stack(run_main, argc, argv);
}
