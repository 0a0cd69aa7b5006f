/* The columns in front of a line of replay. Private to utils/view/replay/replay*.c. */
#ifndef UTRAIL_VIEW_REPLAY_COLUMNS_H
#define UTRAIL_VIEW_REPLAY_COLUMNS_H

#include "utils/view/replay/replay.h"

/*
 * @task: NULL if the line belongs to no task, so that all its cells are blank
 * @event: has the address and the module
 * @duration_ns: 0: blank
 * @label: ten characters in place of the duration, or NULL
 */
struct replay_row {
	const struct task *task;
	const struct event *event;
	uint64_t time_ns;
	uint64_t duration_ns;
	const char *label;
};

/* Choose the columns by config.fields, and prepare the data of cells. */
int replay_columns_init(struct replay *replay, struct uft_err *err);

/* Write the header line, or nothing when there are no columns. */
void replay_put_header(struct replay *replay);

/*
 * Write all cells and " | ". Returns the address for the next @extra bytes of the caller (at most
 * SINK_ROOM_MAX / 2). The caller then calls sink_done().
 */
char *replay_put_cells(struct replay *replay, const struct replay_row *row, size_t extra);

#endif
