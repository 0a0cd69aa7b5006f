/* View: each call on lines of its own, in the order of time (doc/facts/text.md, "Replay"). */
#ifndef UTRAIL_VIEW_REPLAY_H
#define UTRAIL_VIEW_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/color.h"
#include "utils/base/err.h"
#include "utils/pipeline/pipeline.h"
#include "utils/view/values/argtext.h"
#include "utils/view/column.h"
#include "utils/view/values/eventtext.h"
#include "utils/base/sink.h"

struct replay_config {
	enum color_mode color;
	const char *fields; /* the argument of -f, or NULL */
	bool is_flat;
	bool merges_leaves;
	bool shows_args;
	bool shows_comments;
	bool shows_source;
	bool shows_callsite;
	bool shows_inlined;
	bool shows_libname;
	bool is_column_view;
	unsigned column_offset;
	bool has_task_newline;
};

/*
 * The view's state of one task.
 *
 * @tid_cell: " [ 123] | ", the text between duration and name in lines with the default columns
 * @site: the call site of the task's next call
 * @site_ns: the time of the event that told the call site; this event comes before the call
 * @line_ns: the time of the task's last line, for "delta"; 0: there is no line yet
 * @column: the task's column of --column-view, counted from 1; 0: it has none yet
 */
struct replay_task {
	struct tid_cell {
		char text[31];
		uint8_t len;
	} tid_cell;
	uint64_t site;
	uint64_t site_ns;
	uint64_t line_ns;
	uint32_t column;
};

/*
 * The state of the view.
 *
 * @tasks: the state of each task; the index is task->index
 * @has_sites: a call site was seen
 * @rules: the rules with color or backtrace, or NULL
 * @is_plain: the columns are the default ones, in no colour
 * @shows_plain_calls: func->call_text is the complete text of a call without arguments
 */
struct replay {
	struct replay_config config;
	struct column_choice columns;
	const struct pipeline *pipe;
	struct sink *sink;
	struct event_texts texts;
	struct argtext args;
	struct strbuf text; /* text of arguments; each line uses this buffer again */
	struct replay_task *tasks;
	size_t nr_tasks; /* number of elements in @tasks */
	bool has_sites;
	struct func_rules *rules;
	bool is_plain;
	bool shows_plain_calls;
	uint32_t nr_task_columns;
	/*
	 * An ENTRY or SCHED_OUT that is not shown yet. If the next event is the matching EXIT or
	 * SCHED_IN, the two events may share one line.
	 */
	struct event pending;
	const struct task *pending_task;
	struct strbuf pending_data;
	bool has_pending;
	/*
	 * A line of extern.dat that waits for the next event, and gets the cells of that event's
	 * task. If another line of extern.dat, or the end of the recording, precedes the next
	 * event, the waiting line gets the cells of @last_task.
	 */
	struct event ext;
	struct strbuf ext_data;
	bool has_ext;
	const struct task *last_task;
	bool has_header;
	uint64_t nr_flat;
};

/* Check @fields: the argument of -f, or NULL. Returns 0, or -ERR_USAGE for an unknown field. */
int replay_check_fields(const char *fields, struct uft_err *err);

/* Returns the table of all fields, for columns_choose(): *@nr rows of *@stride bytes each. */
const struct column *replay_fields(size_t *nr, size_t *stride);

/*
 * @pipe and @sink must outlive @replay, which ends with replay_deinit(). Returns -ERR_USAGE for an
 * unknown field.
 */
int replay_init(struct replay *replay, const struct replay_config *config, struct pipeline *pipe,
		struct sink *sink, struct uft_err *err);
void replay_deinit(struct replay *replay);

/* Implements events() of struct view (pipeline.h). @self is the struct replay. */
int replay_events(void *self, const struct event_span *span, struct uft_err *err);

/* The function for view.mixed. */
int replay_mixed(void *self, const struct task_event *events, size_t nr, struct uft_err *err);

/* True when @event of @task will share a line with replay->pending. */
bool replay_joins(const struct replay *replay, const struct task *task, const struct event *event);

/* If there is an event in replay->pending, show this event on a line of its own. */
void replay_show_pending(struct replay *replay);

/*
 * Make room for new tasks. Call this before the view gets events of these tasks. Returns 0 or
 * -ENOMEM with @err.
 */
int replay_grow(struct replay *replay, struct uft_err *err);

/*
 * If replay->pending is the entry of a call, and was recorded before @since_ns, show the call on a
 * line of its own. In every case, flush the sink. Returns the result of sink_flush(). Call this
 * when a pause between events begins.
 */
int replay_pause(struct replay *replay, uint64_t since_ns);

/*
 * Show the event in replay->pending, if there is one, and the calls that never returned. If the
 * output is HTML, write the end of the page. Call this after the last event.
 */
void replay_finish(struct replay *replay);

#endif
