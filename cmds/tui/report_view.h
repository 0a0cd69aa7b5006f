/* Shows the functions of a recording with their numbers, sorted by one column at a time. */
#ifndef UTRAIL_CMDS_TUI_REPORT_VIEW_H
#define UTRAIL_CMDS_TUI_REPORT_VIEW_H

#include "cmds/tui/view.h"
#include "utils/view/report/report_columns.h"

/*
 * Starts as { 0 } with report_view_init(), ends with report_view_deinit().
 *
 * @agg: sums of all calls; report_view_init() takes them over
 * @sorted: index, among the chosen columns, of the column that sorts the rows; -1: none
 */
struct report_view {
	struct tui_view view;
	struct report report;
	struct aggregate agg;
	struct report_rows rows;
	int sorted;
	struct module_set *modules;
	const char *dir;
	size_t nr_sessions;
};

/*
 * Make the view of @view->agg, for which report_prepare() with @config and the reading are done.
 * Without sort keys in @config, the first column is the key. Returns 0, -ERR_USAGE or -ENOMEM with
 * @err.
 */
int report_view_init(struct report_view *view, const struct report_config *config,
		     struct uft_err *err);
void report_view_deinit(struct report_view *view);

/* Sort by the column with that index, if it has an order. */
void report_view_sort(struct report_view *view, int index);

/* Go to the line of @func. Returns false when there is none. */
bool report_view_go(struct report_view *view, const struct func *func, size_t rows);

/* Move the cursor to the line of function @name. Its row on the screen stays, if there is room. */
void report_view_find(struct report_view *view, const char *name);

#endif
