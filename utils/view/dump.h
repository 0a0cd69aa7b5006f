/* View: the contents of a recording's files, record by record (doc/facts/text.md, "Dump"). */
#ifndef UTRAIL_VIEW_DUMP_H
#define UTRAIL_VIEW_DUMP_H

#include <stdbool.h>

#include "utils/base/err.h"
#include "utils/pipeline/pipeline.h"
#include "utils/base/sink.h"

/*
 * This view shows each record as soon as the record is read. When the ENTRY of a call is read, the
 * duration of the call is unknown. So the filter by duration in @stages has no effect.
 *
 * @is_verbose: show the bytes of each record, and the lines of task.txt
 * @shows_args: show the values of arguments and return values
 */
struct dump_config {
	struct pipeline_config stages;
	bool is_verbose;
	bool shows_args;
};

/*
 * Show all records, one file after the other. A damaged file is shown up to the damage. Returns 1
 * on success, 0 when there was no record, or a negative errno. When a write to @sink has failed,
 * @err gets no text. After any other error, @err has a text.
 *
 * @broken: gets the message about a damaged file
 */
int dump_show(struct trace_data *data, const struct dump_config *config, struct sink *sink,
	      struct uft_err *broken, struct uft_err *err);

#endif
