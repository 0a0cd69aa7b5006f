/* The columns in front of a line of replay. Private to utils/view/replay/replay*.c. */
#ifndef UTRAIL_VIEW_REPLAY_COLUMNS_H
#define UTRAIL_VIEW_REPLAY_COLUMNS_H

#include "utils/view/replay/replay.h"

/*
 * @task: NULL if the line belongs to no task; all cells of such a line are blank
 * @event: has the address and the module
 * @duration_ns: if 0, the cell of the duration is blank
 * @label: ten characters in place of the duration, or NULL
 */
struct replay_row {
	const struct task *task;
	const struct event *event;
	uint64_t time_ns;
	uint64_t duration_ns;
	const char *label;
};

/* Choose the columns by config.fields, and make room for the tasks of the recording. */
int replay_columns_init(struct replay *replay, struct uft_err *err);

/* Write the header line, or nothing when there are no columns. */
void replay_put_header(struct replay *replay);

/*
 * Write all cells and " | ". Returns the address after this text. The caller may write up to @extra
 * bytes there, and then calls sink_done(). @extra is at most SINK_ROOM_MAX / 2.
 */
char *replay_put_cells(struct replay *replay, const struct replay_row *row, size_t extra);

#endif
