/* `utrail events check-sources`: checks the arguments of declared events against their formats. */
#ifndef UTRAIL_CMDS_EVENTS_SOURCES_H
#define UTRAIL_CMDS_EVENTS_SOURCES_H

#include "cmds/opts.h"
#include "utils/base/err.h"

/*
 * Check the sources of all files compile_commands.json that opts->args names after its first word,
 * and list their errors.
 * Returns an exit status, or a negative error with @err.
 */
int events_sources_check(const struct opts *opts, struct uft_err *err);

#endif
