/* One pass over a recording that makes lines of replay, or only counts them. */
#ifndef UTRAIL_CMDS_TUI_REPLAY_PASS_H
#define UTRAIL_CMDS_TUI_REPLAY_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/view/replay/replay.h"

/* Lines between two marks, and of a page: so many, and those of the last moment. */
#define PAGE_LINES 8192

enum replay_line_kind {
	REPLAY_OTHER,
	REPLAY_ENTRY, /* a call with other lines between its two */
	REPLAY_LEAF,
	REPLAY_EXIT,
};

/*
 * @text: where it begins in the page
 * @total_ns: of leaves and exits
 * @depth: calls around it
 */
struct replay_line {
	const struct task *task;
	const struct func *func;
	uint64_t total_ns;
	size_t text;
	uint32_t depth;
	uint8_t kind;
};

/* Lines in a row. Starts as { 0 }, ends with replay_lines_deinit(). */
struct replay_lines {
	struct replay_line *lines;
	size_t nr;
	struct strbuf text;
};

void replay_lines_deinit(struct replay_lines *lines);

/* A call that was open at a mark. Marks share them. */
struct open_call {
	struct open_call *parent;
	struct open_call *made_before;
	const struct func *func;
	uint64_t entry_ns;
	uint32_t depth;
};

/*
 * A place to begin at.
 *
 * @tops: by task->index below @nr_tops, the innermost open call; NULL for the first mark
 * @line_ns: the same, when the task's last line was, for the field "delta"; NULL: it is not shown
 */
struct replay_mark {
	uint64_t line;
	uint64_t time_ns;
	struct open_call **tops;
	uint64_t *line_ns;
	size_t nr_tops;
};

/*
 * Starts with one mark that is { 0 }, ends with replay_marks_deinit().
 *
 * @calls: all that marks have
 */
struct replay_marks {
	struct replay_mark *all;
	size_t nr;
	struct open_call *calls;
};

void replay_marks_deinit(struct replay_marks *marks);

/*
 * All passes over one recording have this in common.
 *
 * @config: of the pipelines; @view: of the lines
 * @until_ns: of a recording that grows: it is complete up to there; UINT64_MAX: to its end
 * @has_late_entries: see struct pipeline
 * @wants_deltas: marks have the times of the last lines
 */
struct replay_source {
	struct trace_data *data;
	struct pipeline_config config;
	struct replay_config view;
	uint64_t until_ns;
	bool has_late_entries;
	bool wants_deltas;
};

struct replay_pass;

/*
 * Called between two events when there are at least as many lines as were asked for: 0: go on;
 * PASS_IS_DONE; negative.
 */
#define PASS_IS_DONE 1
typedef int (*replay_pass_look)(struct replay_pass *pass, void *self);

/*
 * Starts with replay_pass_begin() on { 0 }, ends with replay_pass_end().
 *
 * @lines: takes the lines; NULL: they are only numbered
 * @marks: gets marks on the way, or NULL
 * @line: the number of the next one
 * @first: lines before that are dropped
 * @end: there it is done
 * @look: NULL: not called
 * @stacks: by task->index
 * @waits: the event that replay holds back
 * @counted: bytes of the sink whose lines have been counted
 */
struct replay_pass {
	const struct replay_source *source;
	struct replay_lines *lines;
	struct replay_marks *marks;
	uint64_t line;
	uint64_t first;
	uint64_t end;
	replay_pass_look look;
	void *self;
	struct pipeline pipe;
	struct sink sink;
	struct replay replay;
	struct open_stack *stacks;
	size_t nr_stacks;
	struct event waits;
	uint64_t last_ns;
	size_t counted;
};

/* Open the pass at @mark; NULL: at the start. 0 or negative with @err. */
int replay_pass_begin(struct replay_pass *pass, const struct replay_mark *mark,
		      struct uft_err *err);

/*
 * Go on, up to @source->until_ns when that grows. 1 when it has come to the end of that; 0 when it
 * stopped before; negative with @err. @is_last: a call that may still become one line with its
 * return is shown as it is.
 */
int replay_pass_run(struct replay_pass *pass, bool is_last, struct uft_err *err);

/* The line above all lines goes to the lines. */
void replay_pass_put_heading(struct replay_pass *pass);

/* There may be more tasks than before. 0 or -ENOMEM. */
int replay_pass_grow(struct replay_pass *pass);

void replay_pass_end(struct replay_pass *pass);

#endif
