/* The recording that the screen program shows: it is opened and added up once for all views. */
#ifndef UTRAIL_CMDS_TUI_READING_H
#define UTRAIL_CMDS_TUI_READING_H

#include "cmds/opts.h"
#include "utils/trace/pipeline.h"
#include "utils/trace/recording/data.h"
#include "utils/view/graph/tree.h"
#include "utils/view/report/report.h"

/*
 * Starts as { 0 } with reading_open(), ends with reading_close().
 *
 * @tree: of all calls, with all numbers that columns of graphs have
 * @report_pipe: the one that an aggregate of reading_add_up() has come from
 */
struct tui_reading {
	const struct opts *opts;
	struct trace_data data;
	struct pipeline pipe;
	struct tree tree;
	struct pipeline report_pipe;
	bool is_open;
};

/* Returns 0, CMD_NO_DATA, a status of an interruption, or negative with @err. */
int reading_open(struct tui_reading *reading, const struct opts *opts, struct uft_err *err);
void reading_close(struct tui_reading *reading);

/* Add up all calls for @report. @agg loses its former content. Returns 0 or negative with @err. */
int reading_add_up(struct tui_reading *reading, const struct report *report, struct aggregate *agg,
		   struct uft_err *err);

#endif
