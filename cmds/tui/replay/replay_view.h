/* Shows the calls as lines, in the order in which the calls were made. Calls can be folded. */
#ifndef UTRAIL_CMDS_TUI_REPLAY_VIEW_H
#define UTRAIL_CMDS_TUI_REPLAY_VIEW_H

#include "cmds/tui/replay/replay_pages.h"
#include "cmds/tui/view.h"
#include "utils/view/graph/tree.h"

/*
 * Starts as { 0 }, is made by replay_view_init(), and ends with replay_view_deinit().
 *
 * @folds: the folded calls, sorted by @line. A folded call hides the lines after its @line, up to
 *         and including its @end. Folded calls may be nested
 * @tree: the call tree of the recording or of a part of it, for averages of functions; NULL: not
 *         made yet
 * @has_grown: the recording has calls that @tree lacks
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
	} * funcs; /* the index is the id of a function of @tree */
	size_t nr_funcs;
};

/*
 * Make the first screen. Returns the same values as replay_pages_init().
 *
 * @stops: returns true when the user has pressed a key and does not want to wait; may be NULL
 */
int replay_view_init(struct replay_view *view, const struct replay_source *source,
		     bool (*stops)(void), struct uft_err *err);
void replay_view_deinit(struct replay_view *view);

/*
 * Give the view the complete tree of all calls, or NULL. @tree must exist until the view ends, or
 * until the view gets another tree.
 */
void replay_view_set_tree(struct replay_view *view, struct tree *tree);

/*
 * Give numbers to the next lines. The work takes a few milliseconds. Returns false when all lines
 * have numbers, or after an error. Otherwise returns true.
 */
bool replay_view_work(struct replay_view *view);

/*
 * Give numbers to all lines, or stop when the user does not want to wait any longer. Returns 0, or
 * a negative error with @err.
 */
int replay_view_finish(struct replay_view *view, struct uft_err *err);

/*
 * Called when the recording has grown. Add the new calls up to time @until_ns to the view. A cursor
 * on the last line goes to the new last line. Returns 0 or a negative error with @err.
 */
int replay_view_grow(struct replay_view *view, uint64_t until_ns, bool has_late_entries,
		     size_t rows, struct uft_err *err);

/* Show the fields that @fields lists. See replay_pages_show(). */
int replay_view_show(struct replay_view *view, const char *fields, size_t rows,
		     struct uft_err *err);

/*
 * Go to line @cursor, or to the last line if there are fewer lines. Returns 0, or a negative error
 * with @err.
 */
int replay_view_reach(struct replay_view *view, size_t cursor, size_t rows, struct uft_err *err);

/*
 * Go to the first call of @func. Returns false when there is no such call, or when the user does
 * not want to wait.
 */
bool replay_view_go(struct replay_view *view, const struct func *func, size_t rows);

#endif
