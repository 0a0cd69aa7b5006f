/* The columns in front of a line of replay. Private to utils/view/replay/replay*.c. */
#ifndef UTRAIL_VIEW_REPLAY_COLUMNS_H
#define UTRAIL_VIEW_REPLAY_COLUMNS_H

#include "utils/view/replay/replay.h"

/*
 * The data of one line's cells.
 *
 * @task: NULL: all cells are blank (a line without a task)
 * @duration_ns: 0 is blank
 * @event: for address and module
 * @label: instead of the duration: ten characters; or NULL
 */
struct replay_row {
	const struct task *task;
	const struct event *event;
	uint64_t time_ns;
	uint64_t duration_ns;
	const char *label;
};

/* Choose by config.fields; prepare the cells' data. */
int replay_columns_init(struct replay *replay, struct uft_err *err);

/* Write the header line, or nothing when there are no columns. */
void replay_put_header(struct replay *replay);

/*
 * Write all cells and " | ". Returns the place after them, with room for @extra bytes (at most
 * SINK_ROOM_MAX / 2). The caller continues there and calls sink_done() at the end.
 */
char *replay_put_cells(struct replay *replay, const struct replay_row *row, size_t extra);

#endif
