/* --list-functions: lists the functions that can be traced. */
#ifndef UTRAIL_CMDS_LIST_FUNCTIONS_H
#define UTRAIL_CMDS_LIST_FUNCTIONS_H

#include "cmds/opts.h"

/*
 * Print the functions and library calls of the program @path that -F and -N choose, sorted by name.
 * Without these options, print all. Each line can be used as an argument of -F. Returns CMD_DONE,
 * or a negative error with @err.
 */
int list_functions(const struct opts *opts, const char *path, struct uft_err *err);

#endif
