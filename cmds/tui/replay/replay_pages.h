/*
 * The lines of replay, made a page at a time. When the user looks at a part of a long recording,
 * only the pages of this part are made.
 *
 * First, a pass over the recording counts the lines and makes marks. A mark has the number of a
 * line, the line's time, and the calls that are open at the line. To make a page, another pass
 * begins at a mark. Each page takes about the same time to make (utils/pipeline/sources/seek.h).
 * If the user filters the recording, no pass can begin at a mark. In this case, a single pass makes
 * all lines, and keeps the lines in a file (replay_kept.h).
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
 * A page.
 *
 * @first: the number of its first line
 * @used: the value of replay_pages.nr_used at the last use of this page; 0: the page is free
 */
struct replay_page {
	uint64_t first;
	uint64_t used;
	struct replay_lines lines;
};

/*
 * replay_pages_init() initializes this struct, and replay_pages_deinit() frees its content. Do not
 * move the struct.
 *
 * @nr_lines: the number of known lines
 * @is_complete: all lines of the present records are known
 * @can_seek: passes can begin at marks. If the user filters the recording, @can_seek is false. In
 *            this case all lines are read from @kept, so @kept must have all lines
 * @wants_kept: the thread that keeps lines must be started or restarted
 * @stops: returns true when the user has pressed a key to end a wait. @stops may be NULL
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
 * Initialize @pages. @source is copied, but its pointers must stay valid. Lines get their numbers
 * in replay_pages_extend(). Returns 0, or a negative error with @err.
 */
int replay_pages_init(struct replay_pages *pages, const struct replay_source *source,
		      struct uft_err *err);
void replay_pages_deinit(struct replay_pages *pages);

/*
 * Show the fields in @fields, a text like the argument of -f. The text must stay valid. If can_seek
 * is false, or if @fields contains "delta", all known lines are dropped: nr_lines is 0 after the
 * call, and the caller must call replay_pages_extend(). Returns 0, or a negative error with @err.
 */
int replay_pages_show(struct replay_pages *pages, const char *fields, struct uft_err *err);

/*
 * Read more of the recording, so that nr_lines grows by about @more. If the recording has fewer
 * unread lines, nr_lines grows by less. Returns 0, or a negative error with @err.
 */
int replay_pages_extend(struct replay_pages *pages, uint64_t more, struct uft_err *err);

/*
 * Called when the recording has grown. @until_ns is the time up to which the recording is complete.
 * Must not be called while a thread reads (replay_pages_is_busy()).
 */
void replay_pages_grow(struct replay_pages *pages, uint64_t until_ns, bool has_late_entries);
bool replay_pages_is_busy(const struct replay_pages *pages);

/*
 * Returns line @number. @number must be below nr_lines. On failure, returns NULL. The line and its
 * text are valid until other lines are requested.
 *
 * @page: gets the page with the line's text
 */
const struct replay_line *replay_pages_line(struct replay_pages *pages, uint64_t number,
					    const struct replay_page **page);

/*
 * A call was entered at line @number: find the line at which it returns. If the call does not
 * return, @end gets the last known line. Returns 0, or a negative error with @err.
 */
int replay_pages_end_of(struct replay_pages *pages, uint64_t number, uint64_t *end,
			struct uft_err *err);

/*
 * Returns the line of the last mark whose time is not later than @time_ns. If can_seek is false,
 * returns the first line.
 */
uint64_t replay_pages_at_time(const struct replay_pages *pages, uint64_t time_ns);

/*
 * Finds the caller of the call at line @number. Returns the line of the caller's entry, or @number
 * if the call has no caller.
 */
uint64_t replay_pages_caller_of(struct replay_pages *pages, uint64_t number);

/*
 * If a call returns at line @number, returns the line at which this call was entered. Otherwise
 * returns @number.
 */
uint64_t replay_pages_entry_of(struct replay_pages *pages, uint64_t number);

#endif
