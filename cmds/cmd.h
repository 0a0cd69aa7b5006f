/* Sub-commands. Each is a struct cmd in a source file of cmds/commands. */
#ifndef UTRAIL_CMDS_CMD_H
#define UTRAIL_CMDS_CMD_H

#include "cmds/opts.h"
#include "utils/base/err.h"

/*
 * Exit statuses of utrail itself. `record` and `live` end with the exit status of the traced
 * program instead.
 */
enum cmd_status {
	CMD_DONE = 0,
	CMD_FAILED = 1,
	CMD_USAGE = 2,	   /* the command line is wrong; nothing was done */
	CMD_NO_DATA = 255, /* the data directory cannot be opened, or the script cannot be run */
};

/*
 * A sub-command: "const struct cmd cmd_<name>". cmds/cmd.c lists all commands except
 * cmd_script_record.
 *
 * @name: the word on the command line
 * @args: the words after the options, for the usage line; NULL when there are none
 * @help: one phrase, for the list of commands
 * @bit: an option belongs to the command if @bit and the option's row in the option table have a
 *       common bit. `script --record` has two bits in @bit, and all other commands have one
 * @needs_program: the rest of the command line is a program that the command runs
 * @may_read: if the command line has no program, the command reads a recording
 * @keeps_rest: the first word that is not an option ends the options. This word and all later
 *              words are arguments for another program
 * @reads_data: the options in default.opts of the data directory apply
 * @uses_pager: if stdout is a terminal, the output goes through the pager
 * @check: checks the words that only this command understands. Runs before all other work. Returns
 *         0 or -ERR_USAGE. May be NULL
 * @run: does the work. Returns an enum cmd_status, the exit status of a program, a negative errno,
 *         or -ERR_USAGE. main() prints @err. Other commands may call @run with changed options
 */
struct cmd {
	const char *name;
	const char *args;
	const char *help;
	enum cmd_bit bit;
	bool needs_program;
	bool may_read;
	bool keeps_rest;
	bool uses_pager;
	bool reads_data;
	int (*check)(const struct opts *opts, struct uft_err *err);
	int (*run)(const struct opts *opts, struct uft_err *err);
};

extern const struct cmd cmd_build;
extern const struct cmd cmd_control;
extern const struct cmd cmd_convert;
extern const struct cmd cmd_dump;
extern const struct cmd cmd_events;
extern const struct cmd cmd_graph;
extern const struct cmd cmd_import;
extern const struct cmd cmd_info;
extern const struct cmd cmd_live;
extern const struct cmd cmd_record;
extern const struct cmd cmd_replay;
extern const struct cmd cmd_report;
extern const struct cmd cmd_script;
extern const struct cmd cmd_script_record; /* the command of `script --record` */
extern const struct cmd cmd_show;
extern const struct cmd cmd_snapshot;
extern const struct cmd cmd_tui;

/* Run `record` without a script. Parameters and results are those of run() in struct cmd. */
int record_run(const struct opts *opts, struct uft_err *err);

/*
 * Run `record` with a script, which gets the calls while they are recorded. Parameters and results
 * are those of run() in struct cmd.
 */
int live_run_script(const struct opts *opts, struct uft_err *err);

/*
 * Run `script --record`: record the program into the data directory, and run the script over the
 * recording afterwards.
 */
int live_record_then_script(const struct opts *opts, struct uft_err *err);

/* All commands, in the order of the help text, with NULL at the end. */
extern const struct cmd *const all_cmds[];

/* Returns the command of that name, or NULL. */
const struct cmd *cmd_find(const char *name);

#endif
