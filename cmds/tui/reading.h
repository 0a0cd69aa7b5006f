/* The recording that the screen program shows: it is opened and added up once for all views. */
#ifndef UTRAIL_CMDS_TUI_READING_H
#define UTRAIL_CMDS_TUI_READING_H

#include <stdatomic.h>

#include "cmds/opts.h"
#include "utils/pipeline/pipeline.h"
#include "utils/pipeline/recording/data.h"
#include "utils/view/graph/tree.h"
#include "utils/view/report/report.h"

/*
 * Starts as { 0 } with reading_open(), ends with reading_close(). It never moves: its parts point
 * to each other.
 *
 * @tree: of all calls, with all numbers that columns of graphs have; after reading_run_tree()
 * @agg: the same for a report, which takes it away; it has come from @report_pipe
 * @active: the pipeline that runs just now, which tells how far it is; NULL: none
 * @stops: the user wants it to end early
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
 * Open the recording; no record is read yet. @is_quiet: the screen is in use, so that nothing may
 * be said. 0, CMD_NO_DATA, or negative; both with @err.
 */
int reading_open(struct tui_reading *reading, const struct opts *opts, bool is_quiet,
		 struct uft_err *err);
void reading_close(struct tui_reading *reading);

/* Add up all calls. Negative with @err. May take long: see job.h. */
int reading_run_tree(struct tui_reading *reading, struct uft_err *err);

/* Add up all calls for @report. @agg loses all that it had. Negative with @err. */
int reading_add_up(struct tui_reading *reading, const struct report *report, struct uft_err *err);

/* From another thread: the records end where they are now. */
void reading_stop(struct tui_reading *reading);

/*
 * Open a pipeline on the recording of @opts. Filters remember what they match, so only one thread
 * at a time may do it.
 */
int reading_open_pipeline(struct pipeline *pipe, struct trace_data *data,
			  const struct pipeline_config *config, struct uft_err *err);

#endif
