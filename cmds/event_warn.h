/* Warnings about --Event: unknown names, and the names that were probably meant. */
#ifndef UTRAIL_CMDS_EVENT_WARN_H
#define UTRAIL_CMDS_EVENT_WARN_H

#include "cmds/opts.h"
#include "utils/pipeline/kinds/event_kinds.h"

/*
 * For commands that read a recording: warn about rules of --Event that match none of the possible
 * events of @data, and suggest the nearest names. May read kernel_header into @data.
 */
void event_warn_unmatched(const struct opts *opts, struct trace_data *data);

#endif
