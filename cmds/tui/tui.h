/* The screen program: views of one recording, and keys that lead through them. */
#ifndef UTRAIL_CMDS_TUI_TUI_H
#define UTRAIL_CMDS_TUI_TUI_H

#include "cmds/opts.h"

/* Check the fields and sort keys of the options. Returns 0 or -ERR_USAGE. */
int tui_check(const struct opts *opts, struct uft_err *err);

/* Is there a terminal for it? 0 or negative with @err. */
int tui_check_terminal(struct uft_err *err);

/* Run it until the user quits. As the run of struct cmd. */
int tui_run(const struct opts *opts, struct uft_err *err);

#endif
