/*
 * The parts that the commands that read a recording have in common: opening it, and choosing where
 * output goes.
 */
#ifndef UTRAIL_CMDS_READER_H
#define UTRAIL_CMDS_READER_H

#include "cmds/opts.h"
#include "utils/export/export.h"
#include "utils/trace/recording/data.h"
#include "utils/trace/pipeline.h"
#include "utils/base/sink.h"

/*
 * The data directory that the options name. When that is the default one and it is not there, the
 * current directory itself counts if it is a recording, and then `ftrace.dir`.
 */
const char *reader_data_dir(const struct opts *opts);

/*
 * Open it. On a terminal a line says so if it takes long, until it is read (watch.h).
 * 0, or CMD_NO_DATA with @err.
 */
int reader_open_data(struct trace_data *data, const struct opts *opts, struct uft_err *err);

/* The end of it, when all is shown. */
void reader_close_data(struct trace_data *data, const struct opts *opts);

/* The same for one that somebody is still recording. It has no tasks yet. */
int reader_open_growing(struct trace_data *data, const struct opts *opts, struct uft_err *err);

/* The same for a recording that must have records: -ENODATA is a failure. */
int reader_open_records(struct trace_data *data, const struct opts *opts, struct uft_err *err);

/*
 * The same for a command that is about function @name, which is shown by that name, of several;
 * NULL: about all.
 */
int reader_open_records_of(struct trace_data *data, const struct opts *opts, const char *name,
			   struct uft_err *err);

/*
 * 0 when it has records, else CMD_NO_DATA with @err; without a word in the second half of `live`.
 */
int reader_check_records(const struct trace_data *data, const struct opts *opts,
			 struct uft_err *err);

/* @name is no function that was called: append those of the recording that look like it to @err. */
void reader_add_nearest(const struct opts *opts, struct trace_data *data, const char *name,
			struct uft_err *err);

/* The selection of the options. */
void reader_pipeline_config(const struct opts *opts, struct pipeline_config *config);

/* Warn about filters that match nothing in @data; after a pipeline was opened with them. */
void reader_warn_filters(const struct opts *opts, struct trace_data *data);

/* Warn about the @nr_dropped events that the exporter's format has no place for (export_run()). */
void reader_warn_dropped(const struct opts *opts, const struct exporter *exporter,
			 uint64_t nr_dropped);

/*
 * Warn about what cannot be shown of the kernel's events in @data: those that were lost when @pipe
 * (or NULL) was recorded, and the fields of all of them in a build without the library for that.
 * After @pipe has read them.
 */
void reader_warn_kernel(const struct opts *opts, const struct trace_data *data,
			const struct pipeline *pipe);

/* The number of threads that may share the work: --num-thread, or one for each CPU. */
size_t reader_threads(const struct opts *opts);

/* A sink that writes to stdout, after the text that stdio holds for it. 0 or -ENOMEM. */
int reader_open_sink(struct sink *sink, struct uft_err *err);

/*
 * The end of a command that wrote to @sink: flush, tell what was damaged, choose the status.
 * @broken: about files that were read only in part; @ret: of the view
 */
int reader_finish(struct sink *sink, const struct uft_err *broken, int ret, struct uft_err *err);

#endif
