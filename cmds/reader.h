/* Shared by the commands that read a recording: opening it, and choosing the output. */
#ifndef UTRAIL_CMDS_READER_H
#define UTRAIL_CMDS_READER_H

#include "cmds/opts.h"
#include "utils/export/export.h"
#include "utils/pipeline/recording/data.h"
#include "utils/pipeline/pipeline.h"
#include "utils/base/sink.h"

/*
 * The data directory that the options name. If the default one does not exist, the current
 * directory counts if it is a recording, and then `ftrace.dir`.
 */
const char *reader_data_dir(const struct opts *opts);

/*
 * Open the data directory of the options. If that takes long, a line on the terminal says so until
 * reading begins (watch.h). Returns 0, or CMD_NO_DATA with @err.
 */
int reader_open_data(struct trace_data *data, const struct opts *opts, struct uft_err *err);

/* End the reading, when all is shown. */
void reader_close_data(struct trace_data *data, const struct opts *opts);

/* The same for a recording that is still being made. It has no tasks yet. */
int reader_open_growing(struct trace_data *data, const struct opts *opts, struct uft_err *err);

/* The same for a recording that must have records: -ENODATA is a failure. */
int reader_open_records(struct trace_data *data, const struct opts *opts, struct uft_err *err);

/*
 * The same for a command about function @name, which may be shown under that name among others;
 * NULL: about all.
 */
int reader_open_records_of(struct trace_data *data, const struct opts *opts, const char *name,
			   struct uft_err *err);

/*
 * Returns 0 when it has records, else CMD_NO_DATA with @err; silently in the second half of `live`.
 */
int reader_check_records(const struct trace_data *data, const struct opts *opts,
			 struct uft_err *err);

/* @name is no function that was called: append similar names of the recording to @err. */
void reader_add_nearest(const struct opts *opts, struct trace_data *data, const char *name,
			struct uft_err *err);

/* The selection of the options. */
void reader_pipeline_config(const struct opts *opts, struct pipeline_config *config);

/* Warn about filters that match nothing in @data; after a pipeline was opened with them. */
void reader_warn_filters(const struct opts *opts, struct trace_data *data);

/*
 * Warn about kernel events in @data that cannot be shown: those that were lost when @pipe (or NULL)
 * was recorded, and the fields of all of them in a build without the library for that. To be called
 * after @pipe has read them.
 */
void reader_warn_kernel(const struct opts *opts, const struct trace_data *data,
			const struct pipeline *pipe);

/* The number of threads that may share the work: --num-thread, or one for each CPU. */
size_t reader_threads(const struct opts *opts);

/* The choices for exporters that are options; the others are off. */
struct export_config reader_export_config(const struct opts *opts);

/*
 * Open @pipe on @data for @exporter, with the selection of the options. Returns 0, or negative with
 * @err.
 */
int reader_open_export(struct pipeline *pipe, const struct opts *opts,
		       const struct exporter *exporter, struct trace_data *data,
		       struct uft_err *err);

/*
 * Write what comes from @pipe, which reader_open_export() has opened, to @sink, and warn about
 * events that the format cannot hold. Does not flush. Returns 0, or negative with @err.
 */
int reader_export(struct pipeline *pipe, const struct opts *opts, const struct exporter *exporter,
		  const struct export_config *config, struct sink *sink, struct uft_err *err);

/* A sink that writes to stdout, after the text that stdio holds for it. 0 or -ENOMEM. */
int reader_open_sink(struct sink *sink, struct uft_err *err);

/*
 * The end of a command that wrote to @sink: flush, report damage, choose the status.
 * @broken: about files that were read only in part; @ret: of the view
 */
int reader_finish(struct sink *sink, const struct uft_err *broken, int ret, struct uft_err *err);

#endif
