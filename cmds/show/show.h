/* `utrail show`: serves the HTML page of `utrail dump` to the browser. */
#ifndef UTRAIL_CMDS_SHOW_SHOW_H
#define UTRAIL_CMDS_SHOW_SHOW_H

#include "cmds/opts.h"

/* Check the words after the options. Returns 0 or -ERR_USAGE. */
int show_check(const struct opts *opts, struct uft_err *err);

/* Serve until Ctrl-C. Parameters and results are those of run() in struct cmd. */
int show_run(const struct opts *opts, struct uft_err *err);

#endif
