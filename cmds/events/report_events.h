/* `utrail report --events` and `--between`: statistics about the events of a recording. */
#ifndef UTRAIL_CMDS_REPORT_EVENTS_H
#define UTRAIL_CMDS_REPORT_EVENTS_H

#include "cmds/opts.h"
#include "utils/pipeline/recording/data.h"
#include "utils/view/report/report.h"

/*
 * Check the arguments of options that only `report --events` and `--between` understand. Returns 0
 * or -ERR_USAGE.
 */
int events_report_check(const struct opts *opts, const struct report_config *config,
			struct uft_err *err);

/* Show the view that @opts asks for. Returns an exit status, or a negative error with @err. */
int events_report(const struct opts *opts, const struct report_config *config,
		  struct trace_data *data, struct uft_err *err);

#endif
