/* A pass over a recording, which makes lines of replay or only counts them. */
#ifndef UTRAIL_CMDS_TUI_REPLAY_PASS_H
#define UTRAIL_CMDS_TUI_REPLAY_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/view/replay/replay.h"

/*
 * The usual number of lines in a page, and between two marks (struct replay_mark). A mark never
 * separates lines of the same time, so a page may have more lines. The last page, and pages that
 * replay_kept_load() has loaded, may have fewer lines.
 */
#define PAGE_LINES 8192

enum replay_line_kind {
	REPLAY_OTHER,
	REPLAY_ENTRY, /* the beginning of a call that is not a leaf */
	REPLAY_LEAF,
	REPLAY_EXIT,
};

/*
 * A line.
 *
 * @text: the offset of the line's text in the text of the page
 * @total_ns: the duration, for leaves and exits
 * @depth: the number of calls that enclose the line
 */
struct replay_line {
	const struct task *task;
	const struct func *func;
	uint64_t total_ns;
	size_t text;
	uint32_t depth;
	uint8_t kind;
};

/* Consecutive lines. The struct starts as { 0 }. replay_lines_deinit() frees its memory. */
struct replay_lines {
	struct replay_line *lines;
	size_t nr;
	struct strbuf text;
};

void replay_lines_deinit(struct replay_lines *lines);

/* A call that was open at a mark. Several marks may point to the same struct open_call. */
struct open_call {
	struct open_call *parent;
	struct open_call *made_before;
	const struct func *func;
	uint64_t entry_ns;
	uint32_t depth;
};

/*
 * A place at which a pass can begin.
 *
 * @tops: the innermost open call of each task, by task->index; NULL for the first mark. Tasks whose
 *         index is @nr_tops or more have no open call
 * @line_ns: times of the tasks' last lines, by task->index, for the field "delta"; NULL if the
 *         field is not shown
 */
struct replay_mark {
	uint64_t line;
	uint64_t time_ns;
	struct open_call **tops;
	uint64_t *line_ns;
	size_t nr_tops;
};

/*
 * All marks. The caller makes the first mark, which is { 0 }, and frees all marks with
 * replay_marks_deinit().
 *
 * @calls: a list of all calls to which the marks point
 */
struct replay_marks {
	struct replay_mark *all;
	size_t nr;
	struct open_call *calls;
};

void replay_marks_deinit(struct replay_marks *marks);

/*
 * The data that all passes over a recording share.
 *
 * @config, @view: the configurations of the pipelines and of the lines
 * @until_ns: the time up to which a growing recording is complete; UINT64_MAX: the recording
 *         does not grow
 * @has_late_entries: see struct pipeline
 * @wants_deltas: each mark stores the times of the tasks' last lines (replay_mark.line_ns)
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
 * A function that a pass calls before each event, when all earlier events have their lines. The
 * function returns 0 to continue the pass, or PASS_IS_DONE or a negative errno to end the pass.
 */
#define PASS_IS_DONE 1
typedef int (*replay_pass_look)(struct replay_pass *pass, void *self);

/*
 * A pass. Starts as { 0 }, is opened by replay_pass_begin(), and ends with replay_pass_end().
 *
 * @lines: gets the lines; NULL: lines are counted, but not stored
 * @marks: gets new marks during the pass; NULL: no marks are made
 * @line: the number of the next line
 * @first: lines before this number are dropped
 * @end: the pass ends before the line with this number. With @marks, the pass ends at the first
 *         new mark that is not before this line
 * @look: called before each event (see above); may be NULL
 * @stacks: open calls, by task->index
 * @waits: the event that replay holds back
 * @counted: an offset in the sink. The lines before this offset are already counted in @line
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

/*
 * Open the pass at @mark, or at the start of the recording if @mark is NULL. Returns 0, or a
 * negative error with @err.
 */
int replay_pass_begin(struct replay_pass *pass, const struct replay_mark *mark,
		      struct uft_err *err);

/*
 * Run the pass. If the recording grows, the pass ends at @source->until_ns. Returns 1 when all was
 * read, 0 when the pass has stopped earlier, or a negative error with @err.
 *
 * @is_last: do not wait for later events. If replay has held back an entry to wait for the exit,
 *         the entry is shown at the end of the pass
 */
int replay_pass_run(struct replay_pass *pass, bool is_last, struct uft_err *err);

/* Append the heading of the columns to pass->lines->text. */
void replay_pass_put_heading(struct replay_pass *pass);

/* Make room for new tasks. Returns 0 or -ENOMEM. */
int replay_pass_grow(struct replay_pass *pass);

void replay_pass_end(struct replay_pass *pass);

#endif
