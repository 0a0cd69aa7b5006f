/* The screen program's state, which its parts share. Private to cmds/tui. */
#ifndef UTRAIL_CMDS_TUI_STATE_H
#define UTRAIL_CMDS_TUI_STATE_H

#include "cmds/tui/graph_view.h"
#include "cmds/tui/list_view.h"
#include "cmds/tui/reading.h"
#include "cmds/tui/replay_view.h"
#include "cmds/tui/report_view.h"
#include "cmds/tui/view.h"

/*
 * @graph: the columns of graphs
 * @session: the shown program, a root of the tree
 * @sum: the calls of the function that the view @func shows
 * @view: the view on the screen; NULL before the first
 * @sink: appends to @line
 * @graph_fields, @report_fields: as of -f; NULL: the default; on the heap
 * @word: the last searched word; on the heap
 * @shows_count: the last line shows @nr_matches
 * @note: text of the last line until the next key; on the heap
 */
struct tui {
	const struct opts *opts;
	struct tui_reading reading;
	struct graph graph;
	size_t session;
	struct graph_view program;
	struct graph_view func;
	struct tree sum;
	struct report_view report;
	struct replay_view replay;
	struct list_view info;
	struct list_view sessions;
	struct tui_view *view;
	struct sink sink;
	struct strbuf line;
	char *graph_fields;
	char *report_fields;
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

/* --- draw.c --- */

/* Lines of a view that the screen has room for. */
size_t draw_rows(void);
/* All of the screen. */
void draw_all(struct tui *tui);
/* The same with @text in the last line, where the user types. */
void draw_prompt(struct tui *tui, const char *text);
/* Note a line for the bottom of the screen. */
void draw_note(struct tui *tui, const char *text);

/* --- go.c: switching to the views that keys choose; negative with @err --- */

int go_graph(struct tui *tui, struct uft_err *err);
int go_graph_of_func(struct tui *tui, struct uft_err *err);
int go_report(struct tui *tui, bool at_func, struct uft_err *err);
int go_replay(struct tui *tui, bool at_func, struct uft_err *err);
int go_info(struct tui *tui, struct uft_err *err);
int go_sessions(struct tui *tui, struct uft_err *err);
/* If the view is the replay, number all its lines before going to the end. */
int go_to_know_all(struct tui *tui, struct uft_err *err);
/* Make the report once more, by tui->report_fields. */
int go_make_report(struct tui *tui, struct uft_err *err);
/* Enter in the list of sessions: returns the chosen enum tui_command, or -1. */
int go_chosen(struct tui *tui);
/* The number of programs that have calls. */
size_t go_nr_programs(const struct tui *tui);
void go_deinit(struct tui *tui);

/* --- ask.c: lists and words that wait for keys --- */

void ask_help(struct tui *tui);
void ask_search(struct tui *tui);
int ask_fields(struct tui *tui, struct uft_err *err);
void ask_next_match(struct tui *tui, int step);

/* --- editor.c --- */

/* Open the source of the function in the present line, and come back. */
void editor_open(struct tui *tui);

#endif
