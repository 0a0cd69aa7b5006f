/* Shows the table of functions as lines (see report_view.h). */
#include "cmds/tui/report_view.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmds/tui/source_place.h"

static struct report_view *report_of(const struct tui_view *view)
{
	return (struct report_view *)view;
}

static const struct report_column *column_of(const struct report_view *view, size_t index)
{
	const struct report_table *table = report_table_of(&view->report.config);

	return &table->columns[view->report.columns.columns[index]];
}

static size_t nr_lines(struct tui_view *base)
{
	return report_of(base)->rows.nr;
}

/*
 * Titles are in capitals. The title of the column with the number of calls is "CALL", as in
 * uftrace.
 */
static void put_title(const struct report_column *column, const struct report_layout *layout,
		      bool is_sorted, struct sink *sink)
{
	const char *header = column->column.header + strspn(column->column.header, " ");
	const bool is_call = strcmp(column->column.name, "call") == 0;
	char title[64];
	size_t width = report_column_width(column, layout) + 2;
	size_t len = 0;

	for (; !is_call && header[len] && len + 1 < sizeof(title); len++)
		title[len] = toupper((unsigned char)header[len]);
	title[len] = '\0';
	if (is_call)
		len = snprintf(title, sizeof(title), "CALL");
	sink_fill(sink, ' ', width - MIN(width - 1, len) - 1);
	sink_either(sink, is_sorted, "*", " ");
	sink_str(sink, title);
}

static void put_heading(struct tui_view *base, struct sink *sink)
{
	const struct report_view *view = report_of(base);

	for (size_t i = 0; i < view->report.columns.nr; i++) {
		const struct report_column *column = column_of(view, i);

		if (column->cells)
			column->cells->put_header(&view->rows.layout, sink);
		else
			put_title(column, &view->rows.layout, (int)i == view->sorted, sink);
	}
	sink_lit(sink, "  FUNCTION");
}

static void put_line(struct tui_view *base, size_t line, struct sink *sink)
{
	const struct report_view *view = report_of(base);

	report_put_row(&view->report, &view->rows.layout, &view->rows.rows[line], sink);
}

static const struct func *func_at(struct tui_view *base, size_t line)
{
	const struct report_view *view = report_of(base);

	return line < view->rows.nr ? view->rows.rows[line].func : NULL;
}

static void put_place(struct tui_view *base, size_t line, struct sink *sink)
{
	const struct report_view *view = report_of(base);
	const struct func *func = func_at(base, line);

	if (func && source_place_put(view->modules, func, sink))
		return;
	sink_str(sink, view->dir);
	sink_putf(sink, " (%zu sessions, %zu functions)", view->nr_sessions, view->rows.nr);
}

static bool has_word(struct tui_view *base, size_t line, const char *word)
{
	return view_word_is_in(func_at(base, line)->name, word);
}

/*
 * Returns the index of the column by which the rows are sorted, or -1 when this column is not
 * shown.
 */
static int find_sorted(const struct report_view *view)
{
	const struct report_table *table = report_table_of(&view->report.config);
	size_t key = view->report.keys[0];

	for (size_t i = 0; key < table->nr_keys && i < view->report.columns.nr; i++) {
		const char *name = column_of(view, i)->column.name;
		const char *other = table->keys[key].name;
		size_t at = 0;

		while (name[at] && (name[at] == other[at] || (name[at] == '-' && other[at] == '_')))
			at++;
		if (!name[at] && !other[at])
			return i;
	}
	return -1;
}

/* Sorts by the column @index. Returns false when the column has no order. */
static bool sort_by(struct report_view *view, size_t index)
{
	struct report_config config = view->report.config;
	struct report sorted;

	config.sort_keys = column_of(view, index)->column.name;
	if (report_init(&sorted, &config, NULL) < 0)
		return false;
	memcpy(view->report.keys, sorted.keys, sizeof(sorted.keys));
	view->report.nr_keys = sorted.nr_keys;
	report_deinit(&sorted);
	view->sorted = index;
	report_rows_sort(&view->report, &view->rows);
	return true;
}

static int act_on_report(struct tui_view *base, enum tui_act act, struct uft_err *err)
{
	struct report_view *view = report_of(base);
	size_t nr = view->report.columns.nr;

	if (act != TUI_NEXT_SORT)
		return -ENOTSUP;
	for (size_t i = 1; i <= nr; i++) {
		if (sort_by(view, (view->sorted + i) % nr))
			break;
	}
	view_home(base);
	return 0;
}

static const struct tui_view_ops report_ops = {
	.nr_lines = nr_lines,
	.put_heading = put_heading,
	.put_line = put_line,
	.put_place = put_place,
	.func_at = func_at,
	.has_word = has_word,
	.act = act_on_report,
};

int report_view_init(struct report_view *view, const struct report_config *config,
		     struct uft_err *err)
{
	int ret;

	view->view.ops = &report_ops;
	view->view.name = "report";
	ret = report_init(&view->report, config, err);
	if (ret < 0)
		return ret;
	ret = report_rows_make(&view->report, &view->agg, &view->rows, err);
	if (ret < 0)
		return ret;
	view->sorted = find_sorted(view);
	if (!config->sort_keys && view->sorted < 0 && view->report.columns.nr)
		sort_by(view, 0);
	return 0;
}

void report_view_deinit(struct report_view *view)
{
	report_rows_deinit(&view->rows);
	report_deinit(&view->report);
	aggregate_deinit(&view->agg);
	*view = (struct report_view){ 0 };
}

void report_view_sort(struct report_view *view, int index)
{
	if (index >= 0 && (size_t)index < view->report.columns.nr)
		sort_by(view, index);
}

bool report_view_go(struct report_view *view, const struct func *func, size_t rows)
{
	for (size_t i = 0; i < view->rows.nr; i++) {
		const struct func *there = view->rows.rows[i].func;

		if (there == func || strcmp(there->name, func->name) == 0) {
			view_go(&view->view, i, rows);
			return true;
		}
	}
	return false;
}

void report_view_find(struct report_view *view, const char *name)
{
	struct tui_view *base = &view->view;
	size_t row = base->cursor - MIN(base->top, base->cursor);

	for (size_t i = 0; i < view->rows.nr; i++) {
		if (strcmp(view->rows.rows[i].func->name, name) != 0)
			continue;
		base->cursor = i;
		base->top = i - MIN(row, i);
		return;
	}
}
