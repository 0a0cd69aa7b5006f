/* The screen program: views of a recording, and keys that lead through them. */
#ifndef UTRAIL_CMDS_TUI_TUI_H
#define UTRAIL_CMDS_TUI_TUI_H

#include "cmds/opts.h"

/* Check the fields and sort keys of the options. Returns 0 or -ERR_USAGE. */
int tui_check(const struct opts *opts, struct uft_err *err);

/*
 * Check that standard input and output are terminals, and that the variable TERM names a usable
 * kind of terminal. Returns 0, or a negative error with @err.
 */
int tui_check_terminal(struct uft_err *err);

/*
 * Run the screen program until the user quits. Parameters and results are those of run() in struct
 * cmd.
 */
int tui_run(const struct opts *opts, struct uft_err *err);

#endif
