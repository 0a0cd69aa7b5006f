/*
 * Follows a recording that is still being made. Finds its new parts, and the time when each part
 * can be shown.
 */
#ifndef UTRAIL_CMDS_FOLLOW_H
#define UTRAIL_CMDS_FOLLOW_H

#include "cmds/opts.h"
#include "utils/pipeline/recording/data.h"
#include "utils/pipeline/pipeline.h"

/*
 * A recording that is being followed.
 *
 * @complete_ns: all events up to this time are in the files and known to @data; UINT64_MAX: the
 *         recording is complete
 * @has_late_entries: see struct pipeline
 * @answer_ns: the latest time in the recorder's answers. All events up to this time are in the
 *         files. The next follow_look() reads task.txt, and then copies this time to @complete_ns
 * @is_own: the recorder is a process of this command. This command waits for the recorder's
 *         answers without a time limit
 * @is_watched: the output goes to a terminal, where a person looks at each line as it comes
 */
struct follow {
	struct trace_data *data;
	uint64_t complete_ns;
	uint64_t answer_ns;
	bool has_late_entries;
	bool is_own;
	bool is_watched;
};

/*
 * A view for follow_run(), with two more functions. @grow and @pause may be NULL. Each function
 * gets view.self, and returns 0 or a negative errno.
 *
 * @grow: called when the pipeline may have new tasks; sets @err
 * @pause: called when all complete events have been shown. Shows each open call that began
 *         before @since_ns and is not shown yet
 */
struct follow_view {
	struct view view;
	int (*grow)(void *self, struct uft_err *err);
	int (*pause)(void *self, uint64_t since_ns);
};

/*
 * Open the recording, and fill @data. If --follow is given and the recorder is still running, the
 * function waits for the first records of the recording, sets @grows to true and fills @follow.
 * Otherwise the function sets @grows to false.
 *
 * Returns 0 on success, CMD_NO_DATA when the recording has no records or cannot be opened, or a
 * negative errno. @data is open only after success.
 */
int follow_open_records(struct follow *follow, bool *grows, struct trace_data *data,
			const struct opts *opts, struct uft_err *err);

/*
 * Check once whether the recording has grown. Updates follow->complete_ns and the tasks in
 * follow->data. Does not wait. Returns 0, -ESTALE when the recording has been renamed or
 * removed, or another negative error, with @err.
 */
int follow_look(struct follow *follow, struct uft_err *err);

/*
 * Show all calls while they are recorded, until the recorder has ended. @pipe must have been opened
 * on follow->data.
 */
int follow_run(struct follow *follow, struct pipeline *pipe, const struct follow_view *shown,
	       struct uft_err *err);

#endif
