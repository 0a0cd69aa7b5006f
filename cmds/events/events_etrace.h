/*
 * Process and file events as text: `utrail events export --as=etrace`, and `utrail build
 * --as=etrace`.
 */
#ifndef UTRAIL_CMDS_EVENTS_ETRACE_H
#define UTRAIL_CMDS_EVENTS_ETRACE_H

#include "cmds/opts.h"
#include "utils/base/err.h"
#include "utils/pipeline/recording/data.h"
#include "utils/base/sink.h"

/*
 * Write the events of processes and files to @sink, which is standard output. Returns an exit
 * status, or a negative error with @err.
 */
int events_etrace_export(const struct opts *opts, const struct trace_data *data, struct sink *sink,
			 struct uft_err *err);

/*
 * Write the output of `build --as=etrace` to the file @name, which build_output_open() opens.
 * Returns an exit status, or a negative error with @err.
 *
 * @name: "-" for standard output
 */
int events_etrace_build(const struct opts *opts, const struct trace_data *data, const char *name,
			struct uft_err *err);

#endif
