/* The state of the screen program, and functions that use the state. Private to cmds/tui. */
#ifndef UTRAIL_CMDS_TUI_STATE_H
#define UTRAIL_CMDS_TUI_STATE_H

#include "cmds/terminal/follow.h"
#include "cmds/tui/graph_view.h"
#include "cmds/tui/job.h"
#include "cmds/tui/list_view.h"
#include "cmds/tui/reading.h"
#include "cmds/tui/replay/replay_view.h"
#include "cmds/tui/report_view.h"
#include "cmds/tui/view.h"

/*
 * The recording, opened a second time for the replay. The replay does not use the data of
 * tui->reading, because another thread may be using these data.
 *
 * @grows: a recorder writes the recording; @follow has the time up to which the recording is
 *         complete
 * @left: the number of checks that the replay still makes after the recording's files have stopped
 *        growing
 */
struct tui_calls {
	struct trace_data data;
	struct follow follow;
	bool is_open;
	bool grows;
	unsigned left;
};

/*
 * A recording that a recorder may still write.
 *
 * @grows: a recorder is writing the recording
 * @is_stale: the recording's files have records that @reading lacks
 * @stamp: stamp of the recording's files (growth.h)
 * @looked_ns: the time when @stamp was last compared with a new stamp
 * @read_ns: the time when the result of the last job (job.h) was taken, by the monotonic clock
 * @took_ns: the duration of this job
 */
struct tui_growth {
	bool grows;
	bool is_stale;
	uint64_t stamp;
	uint64_t looked_ns;
	uint64_t read_ns;
	uint64_t took_ns;
};

/*
 * @reading: the recording for graph and report. If @has_tree is true, @reading is complete
 * @next: replaces @reading when @next is complete
 * @waiting: the view that the screen shows while the user waits for the background thread (job.h)
 * @wanted: the command (enum tui_command) that begins when the background thread is done
 * @wanted_func: the traced function to which @wanted applies, or NULL
 * @graph: the columns of graphs
 * @session: the index of the shown program in reading->tree.roots
 * @sum: all calls to the function that @func shows, merged in one tree
 * @func_name: the name of the function that @func shows; on the heap
 * @view: the view on the screen; NULL until the first view is shown
 * @sink: appends to @line
 * @report_fields, @replay_fields: texts as for -f, on the heap; NULL: the default
 * @word: the last searched word; on the heap
 * @shows_count: @nr_matches is shown in the last line
 * @note: a text that the last line shows until the next key; on the heap
 */
struct tui {
	const struct opts *opts;
	struct tui_reading *reading;
	struct tui_reading *next;
	struct tui_job job;
	struct list_view waiting;
	int wanted;
	const struct func *wanted_func;
	bool has_tree;
	struct tui_calls calls;
	struct tui_growth growth;
	struct graph graph;
	size_t session;
	struct graph_view program;
	struct graph_view func;
	struct tree sum;
	char *func_name;
	struct report_view report;
	struct replay_view replay;
	struct list_view info;
	struct list_view sessions;
	struct tui_view *view;
	struct sink sink;
	struct strbuf line;
	char *report_fields;
	char *replay_fields;
	char *word;
	size_t nr_matches;
	bool shows_count;
	bool shows_debug;
	bool has_sum;
	bool has_report;
	bool has_info;
	char *note;
	bool quits;
};

/* The fields of the replay until the user chooses others. */
#define REPLAY_FIELDS "duration,tid"

/* --- draw.c --- */

/* Returns the number of lines of a view that fit on the screen. */
size_t draw_rows(void);
void draw_all(struct tui *tui);
/* Draw the whole screen with @text in the last line, where the user types. */
void draw_prompt(struct tui *tui, const char *text);
/* Show @text in the last line until the user presses a key. */
void draw_note(struct tui *tui, const char *text);

/*
 * --- go.c: goes to the views that keys choose. On failure, the functions set @err and return a
 *     negative error, or CMD_NO_DATA (only go_replay()) ---
 */

int go_graph(struct tui *tui, struct uft_err *err);
int go_graph_of_func(struct tui *tui, const struct func *func, struct uft_err *err);
/*
 * Go to the report, which must exist. @func: the cursor goes to the line of this function; may be
 * NULL
 */
void go_report(struct tui *tui, const struct func *func);
int go_replay(struct tui *tui, const struct func *func, struct uft_err *err);
int go_info(struct tui *tui, struct uft_err *err);
int go_sessions(struct tui *tui, struct uft_err *err);
/*
 * If the view is the replay, give numbers to all lines of the replay. Commands that need the last
 * line call this function.
 */
int go_to_know_all(struct tui *tui, struct uft_err *err);
/* Returns the settings of the report, with the fields that the user has chosen. */
struct report_config go_report_config(const struct tui *tui);
/* Make the report from the sums that the background thread has made (job.h). */
int go_take_report(struct tui *tui, struct uft_err *err);
/*
 * Returns the enum tui_command that the user has chosen with Enter in the list of sessions, or -1.
 */
int go_chosen(struct tui *tui);
/* Returns the function of the cursor's line, or NULL. */
const struct func *go_func_of_line(struct tui *tui);
/* Returns the modules of the functions in the view on the screen. */
struct module_set *go_modules(struct tui *tui);
/*
 * Replace tui->reading by @next, and free the old reading. @tui then owns @next. After a
 * failure, @next still replaces tui->reading, but all views except the replay and tui->waiting are
 * closed.
 *
 * On success, folded calls stay folded, and cursors stay at their items. As an exception, a cursor
 * on the first line of the report stays on the first line.
 */
int go_take_reading(struct tui *tui, struct tui_reading *next, struct uft_err *err);
/* Returns the number of programs that have calls. */
size_t go_nr_programs(const struct tui *tui);
void go_deinit(struct tui *tui);

/*
 * --- wait.c: views wait while the recording is read in the background. On failure, the functions
 *     set @err and return a negative error ---
 */

/*
 * Begin to read the recording. When the reading is done, the first view replaces the view
 * tui->waiting.
 */
int wait_first(struct tui *tui, struct uft_err *err);
/* If the view of @command needs data that are not read yet, postpone @command and return true. */
bool wait_for(struct tui *tui, int command, int *ret, struct uft_err *err);
/* Read the recording once more, for a report with other fields. */
int wait_for_report(struct tui *tui, struct uft_err *err);
/* If the reading is done, take its results. May change the view. */
int wait_look(struct tui *tui, struct uft_err *err);
/* Stop the reading in the background, and free the view tui->waiting. */
void wait_end(struct tui *tui);

/* --- grow.c: a recording that is still being made --- */

/* Find out whether the recording grows. */
void grow_begin(struct tui *tui);
/* Check for new records, if enough time has passed. Returns 0, or a negative error with @err. */
int grow_look(struct tui *tui, struct uft_err *err);
/* Read the whole recording again. */
int grow_read_again(struct tui *tui, struct uft_err *err);
/*
 * Open the recording for the replay, unless the replay has opened the recording before. Returns 0
 * on success. On failure, sets @err and returns CMD_NO_DATA or a negative error.
 */
int grow_open_calls(struct tui *tui, struct uft_err *err);
void grow_close_calls(struct tui *tui);

/* --- tui.c --- */

/*
 * Run @command (enum tui_command). Returns 0, a negative error, or CMD_NO_DATA. If the
 * result is not 0, @err is set.
 *
 * @func: the function of the cursor's line, or NULL
 */
int tui_do(struct tui *tui, int command, const struct func *func, struct uft_err *err);

/* --- ask.c: shows the help, reads a word to search for, and lets the user choose fields --- */

void ask_help(struct tui *tui);
void ask_search(struct tui *tui);
int ask_fields(struct tui *tui, struct uft_err *err);
void ask_next_match(struct tui *tui, int step);

/* --- editor.c --- */

/* Open an editor at the source of the cursor's function. Returns after the editor has ended. */
void editor_open(struct tui *tui);

#endif
