/* `utrail report --events` and `--between`: the events of a recording in numbers. */
#ifndef UTRAIL_CMDS_REPORT_EVENTS_H
#define UTRAIL_CMDS_REPORT_EVENTS_H

#include "cmds/opts.h"
#include "utils/trace/recording/data.h"
#include "utils/view/report/report.h"

/* Are the words of the options right, which only these two understand? 0 or -ERR_USAGE. */
int events_report_check(const struct opts *opts, const struct report_config *config,
			struct uft_err *err);

/* The one that @opts asks for. An exit status, or negative with @err. */
int events_report(const struct opts *opts, const struct report_config *config,
		  struct trace_data *data, struct uft_err *err);

#endif
