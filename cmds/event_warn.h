/* Warnings about --Event: unknown names, and the names that were probably meant. */
#ifndef UTRAIL_CMDS_EVENT_WARN_H
#define UTRAIL_CMDS_EVENT_WARN_H

#include "cmds/opts.h"
#include "utils/pipeline/kinds/event_kinds.h"

/*
 * For commands that read a recording: warn about each rule of --Event that matches no type of event
 * in @data, and suggest the nearest names. The function may load the file kernel_header into
 * data->kernel.
 */
void event_warn_unmatched(const struct opts *opts, struct trace_data *data);

#endif
