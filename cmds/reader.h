/* Opens a recording and chooses the output, for all commands that read a recording. */
#ifndef UTRAIL_CMDS_READER_H
#define UTRAIL_CMDS_READER_H

#include "cmds/opts.h"
#include "utils/export/export.h"
#include "utils/pipeline/recording/data.h"
#include "utils/pipeline/pipeline.h"
#include "utils/base/sink.h"

/*
 * Returns the data directory that the options name. If this is the default directory, but the
 * default directory does not exist, returns the first of two other directories that fits:
 *
 * - ".", if the working directory is a recording
 * - `ftrace.dir`, if this directory exists
 *
 * If neither fits, returns the default directory.
 */
const char *reader_data_dir(const struct opts *opts);

/*
 * Open the data directory of the options. If opening takes long, a line on the terminal says so
 * until reading begins (read_progress.h). Returns 0, or CMD_NO_DATA with @err. If the directory of
 * --with-syms cannot be read, returns a negative errno with @err.
 */
int reader_open_data(struct trace_data *data, const struct opts *opts, struct uft_err *err);

/*
 * Print debug messages, and warnings about functions without names. Then close the recording. Call
 * this function after all output about the recording.
 */
void reader_close_data(struct trace_data *data, const struct opts *opts);

/*
 * Like reader_open_data(), for a recording that is still being made. @data has no tasks yet, even
 * if the recording has some.
 */
int reader_open_growing(struct trace_data *data, const struct opts *opts, struct uft_err *err);

/*
 * Open a recording with reader_open_data(), and call reader_check_records(). If the result of
 * reader_check_records() is not 0, close the recording again, and return this result.
 */
int reader_open_records(struct trace_data *data, const struct opts *opts, struct uft_err *err);

/*
 * Do the same as reader_open_records(). Then, if @name is not NULL, call module_set_prefer(). So a
 * function that has @name and other names is shown under @name. If module_set_prefer() fails, close
 * the recording again, and return the negative errno with @err.
 */
int reader_open_records_of(struct trace_data *data, const struct opts *opts, const char *name,
			   struct uft_err *err);

/*
 * Returns 0 when the recording has records of tasks. Without records of tasks, returns 0 only if
 * the recording does not grow, has kernel, perf or process files, and the options say that the
 * events in these files are shown. Otherwise returns CMD_NO_DATA with @err.
 *
 * For the view of `live`, these files do not count. Without records of tasks, the function returns
 * CMD_NO_DATA and leaves @err unchanged, because the recorder has already warned.
 */
int reader_check_records(const struct trace_data *data, const struct opts *opts,
			 struct uft_err *err);

/*
 * Append to @err the names of functions of the recording that are similar to @name. Before the
 * call, @err already says that no function with the name @name was called.
 */
void reader_add_nearest(const struct opts *opts, struct trace_data *data, const char *name,
			struct uft_err *err);

/* Fill @config with settings for the calls and events that the options choose. */
void reader_pipeline_config(const struct opts *opts, struct pipeline_config *config);

/*
 * Warn about filters and events that match nothing in @data, and about actions without effect. Open
 * a pipeline with the filters before you call this function.
 */
void reader_warn_filters(const struct opts *opts, struct trace_data *data);

/*
 * Warn when kernel events are not shown completely, because libtraceevent is missing or events were
 * lost.
 *
 * @pipe: has read all events, and has counted the lost ones; NULL: no warning about lost events
 */
void reader_warn_kernel(const struct opts *opts, const struct trace_data *data,
			const struct pipeline *pipe);

/*
 * Returns the number of threads that may process the recording at the same time. This is the
 * argument of --num-thread, or by default the number of CPUs.
 */
size_t reader_threads(const struct opts *opts);

/*
 * Returns the settings that @opts choose for the exporters of `dump` and `show`. @side and
 * @is_served do not come from @opts. A caller that needs these two members must set them.
 */
struct export_config reader_export_config(const struct opts *opts);

/*
 * Open @pipe on @data for @exporter, with the calls and events that the options choose. Returns 0,
 * or a negative error with @err.
 */
int reader_open_export(struct pipeline *pipe, const struct opts *opts,
		       const struct exporter *exporter, struct trace_data *data,
		       struct uft_err *err);

/*
 * Write the output of @pipe, which reader_open_export() has opened, to @sink. Does not flush @sink.
 * Warn about events that the format cannot hold. Returns 0, or a negative error with @err.
 */
int reader_export(struct pipeline *pipe, const struct opts *opts, const struct exporter *exporter,
		  const struct export_config *config, struct sink *sink, struct uft_err *err);

/*
 * Open a sink that writes to stdout. Text that stdio still holds for stdout is written first.
 * Returns 0, or a negative errno with @err.
 */
int reader_open_sink(struct sink *sink, struct uft_err *err);

/*
 * End a command that wrote to @sink: flush it, report damage of the recording, and return the exit
 * status.
 *
 * @broken: the error of files that could be read only in part, or NULL
 * @ret: the result of the view
 */
int reader_finish(struct sink *sink, const struct uft_err *broken, int ret, struct uft_err *err);

#endif
