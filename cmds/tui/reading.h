/*
 * A reading: the recording that the screen program shows, and the sums of the recording's calls.
 * All views except the replay share one reading.
 */
#ifndef UTRAIL_CMDS_TUI_READING_H
#define UTRAIL_CMDS_TUI_READING_H

#include <stdatomic.h>

#include "cmds/opts.h"
#include "utils/pipeline/pipeline.h"
#include "utils/pipeline/recording/data.h"
#include "utils/view/graph/tree.h"
#include "utils/view/report/report.h"

/*
 * Starts as { 0 }, is opened by reading_open(), and ends with reading_close(). The struct must not
 * be moved, because its members point to each other.
 *
 * @tree: all calls, with the numbers for all columns of a graph; made by reading_run_tree()
 * @agg: the sums of all calls, made by @report_pipe; a report takes ownership of @agg
 * @active: the running pipeline, from which the progress is read, or NULL
 * @stops: true when the reading must end early, because the user wants this
 */
struct tui_reading {
	const struct opts *opts;
	struct trace_data data;
	struct pipeline pipe;
	struct tree tree;
	struct pipeline report_pipe;
	struct aggregate agg;
	_Atomic(struct pipeline *) active;
	atomic_bool stops;
	bool is_open;
	bool is_quiet;
};

/*
 * Open the recording, without reading records. Returns 0 on success, or CMD_NO_DATA or a
 * negative errno, both with @err.
 *
 * @is_quiet: print no messages, because the screen is in use
 */
int reading_open(struct tui_reading *reading, const struct opts *opts, bool is_quiet,
		 struct uft_err *err);
void reading_close(struct tui_reading *reading);

/*
 * Make the tree of all calls. This may take long (see job.h). Returns 0, or a negative error with
 * @err.
 */
int reading_run_tree(struct tui_reading *reading, struct uft_err *err);

/*
 * Drop the content of @agg, and store in @agg the sums of all calls, as @report needs them. Returns
 * 0, or a negative error with @err.
 */
int reading_add_up(struct tui_reading *reading, const struct report *report, struct uft_err *err);

/*
 * Called while another thread runs reading_run_tree() or reading_add_up(). The running function
 * then ends as if there were no more records.
 */
void reading_stop(struct tui_reading *reading);

/*
 * Open a pipeline on @data. Any thread may call this function. If several threads call it at the
 * same time, all but one wait: pipeline_open() writes to the filters, and all pipelines share them.
 */
int reading_open_pipeline(struct pipeline *pipe, struct trace_data *data,
			  const struct pipeline_config *config, struct uft_err *err);

#endif
