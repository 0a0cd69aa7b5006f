/* --list-functions: lists the functions that can be traced. */
#ifndef UTRAIL_CMDS_LIST_FUNCTIONS_H
#define UTRAIL_CMDS_LIST_FUNCTIONS_H

#include "cmds/opts.h"

/*
 * Print the functions and library calls of the program @path that -F and -N choose, or all, sorted
 * by name. Each line can be given to -F. Returns CMD_DONE, or negative with @err.
 */
int list_functions(const struct opts *opts, const char *path, struct uft_err *err);

#endif
