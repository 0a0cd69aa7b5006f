/* A view of the screen program: lines of text, independent of a terminal. */
#ifndef UTRAIL_CMDS_TUI_VIEW_H
#define UTRAIL_CMDS_TUI_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/pipeline/recording/module.h"
#include "utils/base/sink.h"

/* The result when there is no line. */
#define TUI_NOWHERE (-1)

/* The actions that keys cause in a view. A view need not have all actions (tui_view_ops.act). */
enum tui_act {
	TUI_FOLD,	   /* fold or unfold the line's call; in a list: choose the line */
	TUI_FOLD_CHILDREN, /* fold the calls directly below the line's call */
	TUI_FOLD_ALL,	   /* fold all calls below the line's call, on all levels */
	TUI_UNFOLD_CHILDREN,
	TUI_UNFOLD_ALL,
	TUI_NEXT_SIBLING,
	TUI_PREV_SIBLING,
	TUI_PARENT,
	TUI_LONGEST_CHILD,
	TUI_NEXT_SORT,
	TUI_NEXT_SLOW,
};

/*
 * The state that all views have. It is the first member of a view's own struct.
 *
 * @name: the kind of view, for the last line of the screen
 * @cursor: the line that the keys act on
 * @top: the first line on the screen
 * @shift: the number of columns that are hidden at the left of the screen
 * @rows: number of lines on the screen when the view was drawn last
 * @stops: called during long work; returns true when the user has pressed a key to end the work;
 *         may be NULL
 */
struct tui_view {
	const struct tui_view_ops *ops;
	const char *name;
	size_t cursor;
	size_t top;
	size_t shift;
	size_t rows;
	bool (*stops)(void);
};

/*
 * A kind of view. Lines are counted from 0. The text of a line may set colours, and names in the
 * text are escaped. All members except @nr_lines and @put_line may be NULL.
 *
 * @nr_lines: returns the present number of lines
 * @put_heading: writes the heading above all lines
 * @put_line: writes the text of one line, without a newline
 * @put_place: writes a text about line @line; the last row of the screen shows this text
 * @is_gap: true when the line only separates other lines; the cursor cannot be on such a line
 * @func_at: returns the function that a line is about, or NULL
 * @has_word: true when a search for @word finds the line
 * @knows_word: false when no line can have @word, so that no search is needed
 * @is_long: the view may have very many lines, so the matches of a search are not counted
 * @act: does an action, and may move the cursor. Returns 0 when something may have changed,
 *         -ENOTSUP when the view has no such action, or another negative errno with @err
 */
struct tui_view_ops {
	bool is_long;
	size_t (*nr_lines)(struct tui_view *view);
	void (*put_heading)(struct tui_view *view, struct sink *sink);
	void (*put_line)(struct tui_view *view, size_t line, struct sink *sink);
	void (*put_place)(struct tui_view *view, size_t line, struct sink *sink);
	bool (*is_gap)(const struct tui_view *view, size_t line);
	const struct func *(*func_at)(struct tui_view *view, size_t line);
	bool (*has_word)(struct tui_view *view, size_t line, const char *word);
	bool (*knows_word)(struct tui_view *view, const char *word);
	int (*act)(struct tui_view *view, enum tui_act act, struct uft_err *err);
};

/* Move the cursor. @rows: the number of lines that fit on the screen; 0 counts as 1 */
void view_move(struct tui_view *view, int step, size_t rows);
void view_page_down(struct tui_view *view, size_t rows);
void view_page_up(struct tui_view *view, size_t rows);
void view_home(struct tui_view *view);
void view_end(struct tui_view *view, size_t rows);
void view_center(struct tui_view *view, size_t rows);
void view_go(struct tui_view *view, size_t line, size_t rows);

/* Move the cursor by an enum tui_command. Returns false when @command is not a movement. */
bool view_do_move(struct tui_view *view, int command, size_t rows);

/*
 * Call this after a change of the view. The cursor moves to a line that is not a gap (@is_gap), and
 * the view scrolls so that this line is on the screen.
 */
void view_settle(struct tui_view *view, size_t rows);

/*
 * Call this before drawing. If the size of the screen has changed, the view scrolls so that as many
 * lines as possible are shown. Then the function does the work of view_settle().
 */
void view_fit(struct tui_view *view, size_t rows);

/*
 * Returns the next line that has @word, or the previous one if @step is -1. Returns TUI_NOWHERE
 * when there is none, or when the user does not want to wait.
 */
ssize_t view_find(struct tui_view *view, int step, const char *word);

/* Returns the number of lines that a search for @word finds. */
size_t view_count(struct tui_view *view, const char *word);

/* Returns the position of the cursor among all lines, in percent. */
unsigned view_percent(struct tui_view *view);

/* True when @name contains @word. Case matters only if @word has capitals. */
bool view_word_is_in(const char *name, const char *word);

#endif
