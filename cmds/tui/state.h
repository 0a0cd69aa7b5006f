/* The screen program's state, which its parts share. Private to cmds/tui. */
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
 * The recording once more, for the replay: it may be read while another thread reads the first.
 *
 * @grows: a recorder writes it, and @follow says up to which time it is complete
 * @left: so many looks are worth it, though its files do not grow
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
 * @grows: a recorder writes it
 * @is_stale: its files have more than @reading knows
 * @stamp: of its files (growth.h) at the last look; @looked_ns: the time of that look
 * @read_ns: the time when @reading was complete; @took_ns: its duration
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
 * @reading: of the graph and the report; complete when it @has_tree
 * @next: takes its place when it is read
 * @job: the one that reads; @waiting: the view of that time, for @wanted (an enum tui_command) and
 *       @wanted_func
 * @graph: the columns of graphs
 * @session: the program that is shown, a root of the tree
 * @sum: the calls of the function that @func is about; @func_name: it, of the heap
 * @view: the one on the screen; NULL before the first
 * @sink: appends to @line
 * @report_fields, @replay_fields: as of -f; NULL: the default; on the heap
 * @word: the last searched word; on the heap
 * @shows_count: the last line shows @nr_matches
 * @note: text of the last line until the next key; on the heap
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

/* Lines of a view that the screen has room for. */
size_t draw_rows(void);
/* Draw the whole screen. */
void draw_all(struct tui *tui);
/* The same with @text in the last line, where the user types. */
void draw_prompt(struct tui *tui, const char *text);
/* Note a line for the bottom of the screen. */
void draw_note(struct tui *tui, const char *text);

/* --- go.c: switching to the views that keys choose; negative with @err --- */

int go_graph(struct tui *tui, struct uft_err *err);
int go_graph_of_func(struct tui *tui, const struct func *func, struct uft_err *err);
/* @func: the one whose line the cursor goes to; NULL: none. There is a report. */
void go_report(struct tui *tui, const struct func *func);
int go_replay(struct tui *tui, const struct func *func, struct uft_err *err);
int go_info(struct tui *tui, struct uft_err *err);
int go_sessions(struct tui *tui, struct uft_err *err);
/* If the view is the replay, number all its lines before going to the end. */
int go_to_know_all(struct tui *tui, struct uft_err *err);
/* The report by the options, or by the fields that the user has chosen here. */
struct report_config go_report_config(const struct tui *tui);
/* Make the report of what the job has added up. */
int go_take_report(struct tui *tui, struct uft_err *err);
/* Enter in the list of sessions: the enum tui_command that was chosen, or -1. */
int go_chosen(struct tui *tui);
/* The function of the line, or NULL. */
const struct func *go_func_of_line(struct tui *tui);
/* The modules that functions of the view on the screen are from. */
struct module_set *go_modules(struct tui *tui);
/* Another reading takes the place of the first: folds and cursors stay where they are. */
int go_take_reading(struct tui *tui, struct tui_reading *next, struct uft_err *err);
/* The number of programs that have calls. */
size_t go_nr_programs(const struct tui *tui);
void go_deinit(struct tui *tui);

/* --- wait.c: what is read in the background; negative with @err --- */

/* Begin to read; the first view comes when that is done. */
int wait_first(struct tui *tui, struct uft_err *err);
/* True when @command was put off: the view it leads to needs what is not read yet. */
bool wait_for(struct tui *tui, int command, int *ret, struct uft_err *err);
/* Read the report once more, for other fields. */
int wait_for_report(struct tui *tui, struct uft_err *err);
/* Look at what has been read meanwhile. May change the view. */
int wait_look(struct tui *tui, struct uft_err *err);
/* The result is not waited for any more. */
void wait_end(struct tui *tui);

/* --- grow.c: a recording that is still being made --- */

/* Ask whether the recording grows. */
void grow_begin(struct tui *tui);
/* Look whether there is more, if it is time. Negative with @err. */
int grow_look(struct tui *tui, struct uft_err *err);
/* Read the whole recording again. */
int grow_read_again(struct tui *tui, struct uft_err *err);
/* Open the recording for the replay, if it is not. */
int grow_open_calls(struct tui *tui, struct uft_err *err);
void grow_close_calls(struct tui *tui);

/* --- tui.c --- */

/* Do an enum tui_command; @func is the one of its line, or NULL. Negative with @err. */
int tui_do(struct tui *tui, int command, const struct func *func, struct uft_err *err);

/* --- ask.c: lists and words that wait for keys --- */

void ask_help(struct tui *tui);
void ask_search(struct tui *tui);
int ask_fields(struct tui *tui, struct uft_err *err);
void ask_next_match(struct tui *tui, int step);

/* --- editor.c --- */

/* Open the source of the function in the present line, and come back. */
void editor_open(struct tui *tui);

#endif
