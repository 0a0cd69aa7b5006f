/* View: every call on lines of its own, as the program made them (spec/output.md section 2). */
#ifndef UTRAIL_VIEW_REPLAY_H
#define UTRAIL_VIEW_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/color.h"
#include "utils/base/err.h"
#include "utils/trace/pipeline.h"
#include "utils/view/column.h"
#include "utils/view/eventtext.h"
#include "utils/view/sink.h"

struct replay_config {
	enum color_mode color;
	const char *fields; /* of -f, or NULL */
	bool is_flat;
	bool merges_leaves;
	bool shows_comments;
	bool shows_libname;
	bool is_column_view;
	unsigned column_offset;
	bool has_task_newline;
};

/*
 * @line_ns: by task->index, when its last line was printed, for "delta"; 0: none yet
 * @tid_cells: by task->index: " [    123] | ", what stands between duration and text by default
 * @is_plain: the columns are the default ones, in no colour
 */
struct replay {
	struct replay_config config;
	struct column_choice columns;
	const struct pipeline *pipe;
	struct sink *sink;
	struct event_names names;
	uint64_t *line_ns;
	struct tid_cell {
		char text[31];
		uint8_t len;
	} * tid_cells;
	bool is_plain;
	uint32_t *task_columns; /* by task->index: one more than its --column-view; 0: none yet */
	uint32_t nr_task_columns;
	/* An ENTRY or SCHED_OUT that may become one line with what comes next. */
	struct event pending;
	const struct task *pending_task;
	struct strbuf pending_data;
	bool has_pending;
	/* External data goes to whoever comes next. */
	struct event ext;
	bool has_ext;
	const struct task *last_task;
	bool has_header;
	uint64_t nr_flat;
};

/* Are these, of -f or NULL, fields that replay knows? -ERR_USAGE when not. */
int replay_check_fields(const char *fields, struct uft_err *err);

/* @pipe and @sink must outlive it. -ERR_USAGE: unknown field. Ends with replay_deinit(). */
int replay_init(struct replay *replay, const struct replay_config *config,
		const struct pipeline *pipe, struct sink *sink, struct uft_err *err);
void replay_deinit(struct replay *replay);

/* The events function of struct view; @self is the struct replay. */
int replay_events(void *self, const struct event_span *span, struct uft_err *err);

/* After the run: the line that was still open, calls that never returned, the end of the page. */
void replay_finish(struct replay *replay);

#endif
