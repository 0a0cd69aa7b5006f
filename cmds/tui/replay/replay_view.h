/* The calls in the order in which they were made, to fold. */
#ifndef UTRAIL_CMDS_TUI_REPLAY_VIEW_H
#define UTRAIL_CMDS_TUI_REPLAY_VIEW_H

#include "cmds/tui/replay/replay_pages.h"
#include "cmds/tui/view.h"
#include "utils/view/graph/tree.h"

/*
 * Starts as { 0 } with replay_view_init(), ends with replay_view_deinit().
 *
 * @folds: calls that are folded, by line: what follows @line up to @end is hidden. One may be
 *         within another
 * @tree: which has the averages of functions, of this recording or a part of it; NULL: not yet
 * @has_grown: there is more than @tree knows
 */
struct replay_view {
	struct tui_view view;
	struct replay_pages pages;
	struct replay_fold {
		uint64_t line;
		uint64_t end;
	} * folds;
	size_t nr_folds;
	struct tree *tree;
	bool has_grown;
	struct slow_func {
		uint64_t calls;
		uint64_t total_ns;
	} * funcs; /* by function id of @tree */
	size_t nr_funcs;
};

/*
 * Make the first screen. As replay_pages_init().
 *
 * @stops: the user has pressed a key, and does not want to wait; NULL: never
 */
int replay_view_init(struct replay_view *view, const struct replay_source *source,
		     bool (*stops)(void), struct uft_err *err);
void replay_view_deinit(struct replay_view *view);

/* The sums of all calls are there; @tree must outlive the view, or be set again. */
void replay_view_set_tree(struct replay_view *view, struct tree *tree);

/* Number some more lines, for a moment. True when there are more to number. */
bool replay_view_work(struct replay_view *view);

/*
 * Number all lines, unless the user does not want to wait. 0 or negative with @err.
 */
int replay_view_finish(struct replay_view *view, struct uft_err *err);

/*
 * There is more of a recording that grows, up to @until_ns: a cursor on the last line goes to the
 * new one. Negative with @err.
 */
int replay_view_grow(struct replay_view *view, uint64_t until_ns, bool has_late_entries,
		     size_t rows, struct uft_err *err);

/* Show these fields, as replay_pages_show(). */
int replay_view_show(struct replay_view *view, const char *fields, size_t rows,
		     struct uft_err *err);

/* Go to line @cursor, or as far as there are any. Negative with @err. */
int replay_view_reach(struct replay_view *view, size_t cursor, size_t rows, struct uft_err *err);

/*
 * Go to the first call of @func; false: there is none, or the user does not want to wait.
 */
bool replay_view_go(struct replay_view *view, const struct func *func, size_t rows);

#endif
