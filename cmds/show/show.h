/* utrail show: the page of dump --format=html in the browser, from a server of its own. */
#ifndef UTRAIL_CMDS_SHOW_SHOW_H
#define UTRAIL_CMDS_SHOW_SHOW_H

#include "cmds/opts.h"

/* Are the words after the options right? 0 or -ERR_USAGE. */
int show_check(const struct opts *opts, struct uft_err *err);

/* Serve until Ctrl-C. As the run of struct cmd. */
int show_run(const struct opts *opts, struct uft_err *err);

#endif
