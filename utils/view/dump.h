/* View: the contents of a recording's files, record by record (doc/facts/text.md, "Dump"). */
#ifndef UTRAIL_VIEW_DUMP_H
#define UTRAIL_VIEW_DUMP_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/pipeline/pipeline.h"
#include "utils/base/sink.h"

/*
 * @is_verbose: show the bytes, too, and the lines of task.txt
 * @shows_args: the values of arguments and return values
 *
 * The duration filter of @stages does not count: this view shows the contents of files.
 */
struct dump_config {
	struct pipeline_config stages;
	bool is_verbose;
	bool shows_args;
};

/*
 * Show all records, one file after the other. A damaged file is shown up to the damage, @broken
 * gets the message, and the other files are shown. Returns 1, 0 when there was no record to show,
 * or negative with @err.
 */
int dump_show(struct trace_data *data, const struct dump_config *config, struct sink *sink,
	      struct uft_err *broken, struct uft_err *err);

#endif
