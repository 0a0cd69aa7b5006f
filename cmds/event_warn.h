/* Warnings about --Event: names that mean nothing, and what was probably meant. */
#ifndef UTRAIL_CMDS_EVENT_WARN_H
#define UTRAIL_CMDS_EVENT_WARN_H

#include "cmds/opts.h"
#include "utils/trace/kinds/event_kinds.h"

/*
 * At reading: rules that match none of the events that @data may have, with the nearest of these.
 * May read kernel_header into @data.
 */
void event_warn_unmatched(const struct opts *opts, struct trace_data *data);

#endif
