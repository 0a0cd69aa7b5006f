/* `utrail events export --as=etrace`: process and file events as text. */
#ifndef UTRAIL_CMDS_EVENTS_ETRACE_H
#define UTRAIL_CMDS_EVENTS_ETRACE_H

#include "cmds/opts.h"
#include "utils/base/err.h"
#include "utils/trace/data.h"
#include "utils/view/sink.h"

/* An exit status, or negative with @err. */
int events_etrace_export(const struct opts *opts, const struct trace_data *data, struct sink *sink,
			 struct uft_err *err);

#endif
