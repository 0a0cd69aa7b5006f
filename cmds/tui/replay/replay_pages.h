/*
 * The lines of replay, a page at a time: any part of a long recording without the rest.
 *
 * Lines are numbered by one pass over the recording, which notes marks: a line, its time and the
 * calls that are open then. A page is made by another pass that begins at a mark, which costs the
 * same wherever that is (utils/pipeline/sources/seek.h). A page knows what is before it by the
 * mark's open calls. With filters one pass makes all lines, which are kept (replay_kept.h).
 */
#ifndef UTRAIL_CMDS_TUI_REPLAY_PAGES_H
#define UTRAIL_CMDS_TUI_REPLAY_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmds/tui/replay/replay_kept.h"
#include "cmds/tui/replay/replay_pass.h"

/* So many pages are kept, of about PAGE_LINES each. */
#define REPLAY_PAGES 8

/* @first: the number of its first line; @used: the larger, the later; 0: it is free */
struct replay_page {
	uint64_t first;
	uint64_t used;
	struct replay_lines lines;
};

/*
 * Starts with replay_pages_init(), ends with replay_pages_deinit(). It does not move.
 *
 * @nr_lines: known so far; @is_complete: there are no more in what may be read by now
 * @can_seek: passes begin at marks; else all lines are @kept, as filters want it
 * @wants_kept: there may be more to keep
 * @stops: the user has pressed a key, and does not want to wait; NULL: never
 */
struct replay_pages {
	struct replay_source source;
	struct replay_marks marks;
	struct replay_kept kept;
	uint64_t nr_lines;
	bool is_complete;
	bool can_seek;
	bool wants_kept;
	bool (*stops)(void);
	unsigned looks;
	struct replay_page pages[REPLAY_PAGES];
	uint64_t nr_used;
	struct strbuf heading;
};

/*
 * @source: copied; what it points to must outlive it. Lines are numbered by replay_pages_extend().
 * 0 or negative with @err.
 */
int replay_pages_init(struct replay_pages *pages, const struct replay_source *source,
		      struct uft_err *err);
void replay_pages_deinit(struct replay_pages *pages);

/*
 * Show these fields, as of -f, which must outlive it. Lines are numbered anew where that takes a
 * pass over all of them. Negative with @err.
 */
int replay_pages_show(struct replay_pages *pages, const char *fields, struct uft_err *err);

/* Number about @more lines more, unless there are none. 0 or negative with @err. */
int replay_pages_extend(struct replay_pages *pages, uint64_t more, struct uft_err *err);

/* There may be more, up to @until_ns. Not while a thread reads (replay_pages_is_busy()). */
void replay_pages_grow(struct replay_pages *pages, uint64_t until_ns, bool has_late_entries);
bool replay_pages_is_busy(const struct replay_pages *pages);

/*
 * Line @number, below nr_lines, and the page with its text; NULL when it cannot be made. Good until
 * other lines are asked for.
 */
const struct replay_line *replay_pages_line(struct replay_pages *pages, uint64_t number,
					    const struct replay_page **page);

/*
 * The line by which the call that was entered at @number returns: the last one so far, when it does
 * not. Negative with @err.
 */
int replay_pages_end_of(struct replay_pages *pages, uint64_t number, uint64_t *end,
			struct uft_err *err);

/* A line from which it is not far to the first one at or after @time_ns, of those so far. */
uint64_t replay_pages_at_time(const struct replay_pages *pages, uint64_t time_ns);

/* The line by which the caller of what is at @number was entered; @number without one. */
uint64_t replay_pages_caller_of(struct replay_pages *pages, uint64_t number);

/* The line by which the call that returns at @number was entered; @number for other lines. */
uint64_t replay_pages_entry_of(struct replay_pages *pages, uint64_t number);

#endif
