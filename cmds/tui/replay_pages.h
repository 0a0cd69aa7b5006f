/*
 * The lines of replay, a page at a time: any part of a long recording without the rest.
 *
 * Lines are numbered by one pass over the recording, which notes marks: a line, its time and the
 * calls that are open then. A page is made by another pass that begins at a mark, at the same cost
 * for any mark (utils/trace/sources/seek.h). The mark's open calls tell the page what came before
 * it.
 */
#ifndef UTRAIL_CMDS_TUI_REPLAY_PAGES_H
#define UTRAIL_CMDS_TUI_REPLAY_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/view/replay/replay.h"

/* The number of pages that are kept, and the approximate number of lines of each. */
#define REPLAY_PAGES 8
#define PAGE_LINES   8192

enum replay_line_kind {
	REPLAY_OTHER,
	REPLAY_ENTRY, /* a call that has lines of its own in it */
	REPLAY_LEAF,
	REPLAY_EXIT,
};

/*
 * @text: offset of its text in the page ⏎ @total_ns: of leaves and exits ⏎ @depth: calls around it
 */
struct replay_line {
	const struct task *task;
	const struct func *func;
	uint64_t total_ns;
	size_t text;
	uint32_t depth;
	uint8_t kind;
};

/* A call that was open at a mark. Marks share them. */
struct open_call {
	struct open_call *parent;
	struct open_call *made_before;
	const struct func *func;
	uint64_t entry_ns;
	uint32_t depth;
};

/* @tops: by task->index, the innermost open call; NULL for the first mark */
struct replay_mark {
	uint64_t line;
	uint64_t time_ns;
	struct open_call **tops;
};

/* @mark: the one that it begins at; @used: the larger, the later */
struct replay_page {
	size_t mark;
	uint64_t used;
	struct replay_line *lines;
	size_t nr;
	struct strbuf text;
};

/*
 * Starts with replay_pages_init(), ends with replay_pages_deinit().
 *
 * @config: of the pipelines; @view: of the lines
 * @nr_lines: known so far; @is_complete: there are no more
 * @can_seek: passes begin at marks; otherwise each begins at the start, as filters need
 */
struct replay_pages {
	struct trace_data *data;
	struct pipeline_config config;
	struct replay_config view;
	struct replay_mark *marks;
	size_t nr_marks;
	struct open_call *calls;
	uint64_t nr_lines;
	bool is_complete;
	bool can_seek;
	struct replay_page pages[REPLAY_PAGES];
	uint64_t nr_used;
	struct strbuf heading;
};

/* 0 or negative with @err. @data must outlive it; the filters of @config, too. */
int replay_pages_init(struct replay_pages *pages, struct trace_data *data,
		      const struct pipeline_config *config, const struct replay_config *view,
		      struct uft_err *err);
void replay_pages_deinit(struct replay_pages *pages);

/* Number at least @more further lines, unless there are none. Returns 0 or negative with @err. */
int replay_pages_extend(struct replay_pages *pages, uint64_t more, struct uft_err *err);

/*
 * Returns line @number, below nr_lines, and the page with its text; NULL when it cannot be made.
 * Valid until other lines are requested.
 */
const struct replay_line *replay_pages_line(struct replay_pages *pages, uint64_t number,
					    const struct replay_page **page);

/*
 * Find the line by which the call entered at @number returns: the last one so far, if it does not.
 * Returns 0 or negative with @err.
 */
int replay_pages_end_of(struct replay_pages *pages, uint64_t number, uint64_t *end,
			struct uft_err *err);

/* Returns the line by which the caller of line @number was entered; @number without one. */
uint64_t replay_pages_caller_of(struct replay_pages *pages, uint64_t number);

#endif
