/* `utrail events check-sources`: checks the arguments of declared events against their formats. */
#ifndef UTRAIL_CMDS_EVENTS_SOURCES_H
#define UTRAIL_CMDS_EVENTS_SOURCES_H

#include "cmds/opts.h"
#include "utils/base/err.h"

/*
 * Check the source files that are named in compile_commands.json files, and print the errors.
 * Returns an exit status, or a negative error with @err.
 *
 * @opts: opts->args[1] and all later words are the names of compile_commands.json files
 */
int events_sources_check(const struct opts *opts, struct uft_err *err);

#endif
