/*
 * Process and file events as text: `utrail events export --as=etrace`, and `utrail build
 * --as=etrace`.
 */
#ifndef UTRAIL_CMDS_EVENTS_ETRACE_H
#define UTRAIL_CMDS_EVENTS_ETRACE_H

#include "cmds/opts.h"
#include "utils/base/err.h"
#include "utils/trace/recording/data.h"
#include "utils/base/sink.h"

/* All of them, to standard output. An exit status, or negative with @err. */
int events_etrace_export(const struct opts *opts, const struct trace_data *data, struct sink *sink,
			 struct uft_err *err);

/*
 * Write the output that @opts ask build for to the file @name; "-": to standard output. The same
 * results; a file is there when all of it is.
 */
int events_etrace_build(const struct opts *opts, const struct trace_data *data, const char *name,
			struct uft_err *err);

#endif
