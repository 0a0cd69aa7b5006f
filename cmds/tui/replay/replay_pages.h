/*
 * The lines of replay, a page at a time: any part of a long recording can be shown without the
 * rest.
 *
 * One pass over the recording numbers the lines and makes marks: a line, its time and the open
 * calls. Another pass makes a page, beginning at a mark, at the same cost anywhere
 * (utils/pipeline/sources/seek.h). With filters, one pass makes and keeps all lines
 * (replay_kept.h).
 */
#ifndef UTRAIL_CMDS_TUI_REPLAY_PAGES_H
#define UTRAIL_CMDS_TUI_REPLAY_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "cmds/tui/replay/replay_kept.h"
#include "cmds/tui/replay/replay_pass.h"

/* The number of pages that are kept, each of about PAGE_LINES lines. */
#define REPLAY_PAGES 8

/*
 * @first: the number of its first line
 * @used: grows with each use of a page; 0: the page is free
 */
struct replay_page {
	uint64_t first;
	uint64_t used;
	struct replay_lines lines;
};

/*
 * Starts with replay_pages_init(), ends with replay_pages_deinit(). It must not be moved.
 *
 * @nr_lines: number of known lines
 * @is_complete: the present records have no more lines
 * @can_seek: passes begin at marks; otherwise filters require all lines in @kept
 * @wants_kept: the thread that keeps lines must be started (again)
 * @stops: true when the user has pressed a key to end a wait; may be NULL
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
 * @source is copied, but its pointers must stay valid. Lines are numbered by replay_pages_extend().
 * Returns 0 or negative with @err.
 */
int replay_pages_init(struct replay_pages *pages, const struct replay_source *source,
		      struct uft_err *err);
void replay_pages_deinit(struct replay_pages *pages);

/*
 * Show the fields @fields, a text like that of -f, which must stay valid. Lines are numbered anew
 * if all lines must be made again. Returns 0 or negative with @err.
 */
int replay_pages_show(struct replay_pages *pages, const char *fields, struct uft_err *err);

/* Number about @more further lines, as far as there are any. Returns 0 or negative with @err. */
int replay_pages_extend(struct replay_pages *pages, uint64_t more, struct uft_err *err);

/*
 * The recording has grown: it is complete up to @until_ns. Must not be called while a thread reads
 * (replay_pages_is_busy()).
 */
void replay_pages_grow(struct replay_pages *pages, uint64_t until_ns, bool has_late_entries);
bool replay_pages_is_busy(const struct replay_pages *pages);

/*
 * Returns line @number, which must be below nr_lines, or NULL on failure. Line and text are valid
 * until other lines are requested.
 *
 * @page: gets the page with the line's text
 */
const struct replay_line *replay_pages_line(struct replay_pages *pages, uint64_t number,
					    const struct replay_page **page);

/*
 * Find the line by which the call that was entered at @number returns. Without a return it is the
 * last known line. Returns 0 or negative with @err.
 */
int replay_pages_end_of(struct replay_pages *pages, uint64_t number, uint64_t *end,
			struct uft_err *err);

/* Returns a line shortly before the first one at or after @time_ns, among the known lines. */
uint64_t replay_pages_at_time(const struct replay_pages *pages, uint64_t time_ns);

/* Returns the line by which the caller of the call at @number was entered; without one, @number. */
uint64_t replay_pages_caller_of(struct replay_pages *pages, uint64_t number);

/* Returns the line by which the call that returns at @number was entered; for others, @number. */
uint64_t replay_pages_entry_of(struct replay_pages *pages, uint64_t number);

#endif
