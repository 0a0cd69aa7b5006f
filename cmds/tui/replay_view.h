/* The calls in the order in which they were made; each can be folded. */
#ifndef UTRAIL_CMDS_TUI_REPLAY_VIEW_H
#define UTRAIL_CMDS_TUI_REPLAY_VIEW_H

#include "cmds/tui/replay_pages.h"
#include "cmds/tui/view.h"
#include "utils/view/graph/tree.h"

/*
 * Starts as { 0 } with replay_view_init(), ends with replay_view_deinit().
 *
 * @folds: folded calls, by line: the lines after @line up to @end are hidden. Folds may be
 *         nested
 * @tree: which has the averages of functions
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
	struct slow_func {
		uint64_t calls;
		uint64_t total_ns;
	} * funcs; /* by function id */
	size_t nr_funcs;
};

/* As replay_pages_init(). */
int replay_view_init(struct replay_view *view, struct trace_data *data,
		     const struct pipeline_config *config, const struct replay_config *shown,
		     struct tree *tree, struct uft_err *err);
void replay_view_deinit(struct replay_view *view);

/* Number more lines, for a moment. True when there are more to number. */
bool replay_view_work(struct replay_view *view);

/* Number them all. 0 or negative with @err. */
int replay_view_finish(struct replay_view *view, struct uft_err *err);

/* Go to the first call of @func; false: there is none. */
bool replay_view_go(struct replay_view *view, const struct func *func, size_t rows);

#endif
