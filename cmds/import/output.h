/* The recording for imported events: a new one, or an existing one. */
#ifndef UTRAIL_CMDS_IMPORT_OUTPUT_H
#define UTRAIL_CMDS_IMPORT_OUTPUT_H

#include "cmds/import/kinds.h"
#include "cmds/import/tasks.h"
#include "cmds/opts.h"
#include "cmds/record/store/dir.h"
#include "utils/pipeline/recording/data.h"

/*
 * @into: the existing recording, open as @data, or NULL for a new one
 * @offset_ns: the time of day minus a record's time
 */
struct import_output {
	const struct opts *opts;
	const char *into;
	struct trace_data data;
	struct store_dir dir;
	int64_t offset_ns;
};

/*
 * If opts->import_into is NULL, make a new directory. Otherwise, open the existing recording
 * opts->import_into. In this case, note the recording's tasks in @tasks, and set the members
 * next_id and bytes of @kinds for the recording's events. Returns 0, or a negative error with @err.
 * The caller must always call import_output_close().
 */
int import_output_open(struct import_output *out, const struct opts *opts,
		       struct import_tasks *tasks, struct import_kinds *kinds, struct uft_err *err);
void import_output_close(struct import_output *out);

/*
 * Write the tasks and the definitions. Call it after all events were written.
 *
 * @programs: an array with the program of each log. The member @log of a task is the index of the
 *         task's program in this array
 * @nr_logs: the number of logs
 * @last_ns: the time of the last record
 */
int import_output_finish(struct import_output *out, const struct import_tasks *tasks,
			 const struct import_kinds *kinds, const struct text *programs,
			 size_t nr_logs, uint64_t last_ns, struct uft_err *err);

#endif
