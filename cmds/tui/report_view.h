/* Shows the functions of a recording, with counts and times, sorted by one of the columns. */
#ifndef UTRAIL_CMDS_TUI_REPORT_VIEW_H
#define UTRAIL_CMDS_TUI_REPORT_VIEW_H

#include "cmds/tui/view.h"
#include "utils/view/report/report_columns.h"

/*
 * The struct starts as { 0 }. report_view_init() makes the view. report_view_deinit() frees the
 * data of the struct.
 *
 * @agg: the sums of all calls. report_view_init() takes ownership of @agg
 * @sorted: the index of the shown column by which the rows are sorted. -1: the rows are sorted by a
 *          column that is not shown
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
 * Make the view from the aggregate @view->agg. The aggregate must contain the sums of all calls,
 * and the data that @config needs (see report_prepare()).
 *
 * The sort keys of @config determine the order of the functions. Without sort keys, the default key
 * determines the order. If no shown column has the default key, report_view_init() tries to sort by
 * the first shown column. If functions cannot be sorted by that column, the default key still
 * determines the order.
 *
 * Returns 0, or -ERR_USAGE, -EINVAL or -ENOMEM with @err.
 */
int report_view_init(struct report_view *view, const struct report_config *config,
		     struct uft_err *err);
void report_view_deinit(struct report_view *view);

/* Sort by the column with the index @index, if rows can be sorted by this column. */
void report_view_sort(struct report_view *view, int index);

/* Go to the line of @func. Returns false when there is no such line. */
bool report_view_go(struct report_view *view, const struct func *func, size_t rows);

/*
 * Move the cursor to the line of function @name. If possible, scroll so that the cursor is on the
 * same row of the screen as before.
 */
void report_view_find(struct report_view *view, const char *name);

#endif
