/* View: a table of functions or of tasks (see report.h). */
#include "utils/view/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/units.h"
#include "utils/base/unknown.h"
#include "utils/view/values/number.h"
#include "utils/view/report/report_columns.h"
#include "utils/view/report/report_counters.h"
#include "utils/view/source_line.h"

/* The length of the last column's underline. The cells of this column have no fixed width. */
#define NAME_UNDERLINE 20

const struct report_table *report_table_of(const struct report_config *config)
{
	return config->is_by_task ? &report_task_table : &report_func_table;
}

/* --avg-total and --avg-self choose four columns each. */
static void choose_average(struct report *report)
{
	static const char *const families[] = {
		[REPORT_AVERAGE_TOTAL] = "total-avg,total-min,total-max,total-stdv",
		[REPORT_AVERAGE_SELF] = "self-avg,self-min,self-max,self-stdv",
	};
	const struct report_table *table = report_table_of(&report->config);

	columns_choose(table->columns, table->nr_columns, sizeof(*table->columns),
		       families[report->config.average], &report->columns, NULL);
}

static bool is_key(const struct report *report, const struct report_key *key, const char *word,
		   size_t len)
{
	char name[32];

	if (len >= sizeof(name))
		return false;
	for (size_t i = 0; i < len; i++)
		name[i] = word[i] == '-' ? '_' : word[i];
	name[len] = '\0';
	switch (report->config.average) {
	case REPORT_AVERAGE_NONE:
		break;
	case REPORT_AVERAGE_TOTAL:
		if (key->total_name && strcmp(key->total_name, name) == 0)
			return true;
		break;
	case REPORT_AVERAGE_SELF:
		if (key->self_name && strcmp(key->self_name, name) == 0)
			return true;
		break;
	}
	return strcmp(key->name, name) == 0;
}

/*
 * Add a counter as a sort key. Returns false when the word is not a counter's name, or the table
 * has no counters.
 */
static bool add_counter_key(struct report *report, const char *word, size_t len)
{
	const struct report_table *table = report_table_of(&report->config);
	char name[COUNTER_NAME_BYTES];
	struct counter counter;
	int index;

	if (report->config.is_by_task || len >= sizeof(name))
		return false;
	memcpy(name, word, len);
	name[len] = '\0';
	if (!counter_parse(name, &counter))
		return false;
	index = counters_add(&report->key_counters, &counter);
	if (index < 0)
		return false;
	if (report->nr_keys < SORT_KEYS_MAX)
		report->keys[report->nr_keys++] = table->nr_keys + index;
	return true;
}

static int add_key(struct report *report, const char *word, size_t len, struct uft_err *err)
{
	const struct report_table *table = report_table_of(&report->config);
	struct unknown unknown cleanup_unknown = { 0 };

	for (size_t i = 0; i < table->nr_keys; i++) {
		if (!is_key(report, &table->keys[i], word, len))
			continue;
		if (report->nr_keys < SORT_KEYS_MAX)
			report->keys[report->nr_keys++] = i;
		return 0;
	}
	if (add_counter_key(report, word, len))
		return 0;
	unknown_init(&unknown, word, len);
	for (size_t i = 0; i < table->nr_keys; i++)
		unknown_offer(&unknown, table->keys[i].name);
	return unknown_set(&unknown, err, -EINVAL, "sort key", "some of",
			   report->config.is_by_task ? "" : ", or a counter");
}

static int choose_keys(struct report *report, struct uft_err *err)
{
	const char *keys = report->config.sort_keys;

	if (!keys)
		keys = report->config.average ? "avg" : "total";
	for (const char *at = keys;;) {
		size_t len = strcspn(at, ",");
		int ret = add_key(report, at, len, err);

		if (ret < 0 || !at[len])
			return ret;
		at += len + 1;
	}
}

int report_init(struct report *report, const struct report_config *config, struct uft_err *err)
{
	const struct report_table *table = report_table_of(config);
	int ret;

	*report = (struct report){ .config = *config };
	if (config->is_by_task)
		report->config.average = REPORT_AVERAGE_NONE;
	ret = columns_choose(table->columns, table->nr_columns, sizeof(*table->columns),
			     config->fields, &report->columns, err);
	if (ret < 0)
		return ret;
	if (report->config.average)
		choose_average(report);
	return choose_keys(report, err);
}

void report_deinit(struct report *report)
{
	left_funcs_deinit(&report->left);
	report_counters_deinit(&report->counters);
}

static unsigned needs_of(const struct report *report)
{
	const struct report_table *table = report_table_of(&report->config);
	unsigned needs = 0;

	for (size_t i = 0; i < report->columns.nr; i++)
		needs |= table->columns[report->columns.columns[i]].needs;
	for (size_t i = 0; i < report->nr_keys; i++) {
		if (report->keys[i] < table->nr_keys)
			needs |= table->keys[report->keys[i]].needs;
	}
	return needs;
}

void report_configure(const struct report *report, struct pipeline_config *config)
{
	config->order = PIPELINE_BY_TASK;
	config->stages.wants = STAGE_WANTS_ENDS;
	config->stages.closes_open_calls = true;
	/* Only events outside of calls tell on which CPU a task ran before its first call. */
	if (needs_of(report) & REPORT_NEEDS_CPUS)
		config->stages.show_outside = config->stages.wants_cpus = true;
}

void report_prepare(const struct report *report, struct aggregate *agg)
{
	unsigned needs = needs_of(report);

	agg->wants_details = needs & REPORT_NEEDS_DETAILS;
	agg->wants_cpus = needs & REPORT_NEEDS_CPUS;
	agg->wants_hist = needs & REPORT_NEEDS_HIST;
	agg->counts_outside = report->config.counts_outside;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct report *report = arg;
	const struct report_table *table = report_table_of(&report->config);
	const struct report_row *x = a;
	const struct report_row *y = b;

	for (size_t i = 0; i < report->nr_keys; i++) {
		unsigned key = report->keys[i];
		int order = key < table->nr_keys
				    ? table->keys[key].compare(x, y)
				    : report_compare_counters(report, key - table->nr_keys, x, y);

		if (order)
			return order;
	}
	return table->compare_last(x, y);
}

static bool shows_source(const struct report *report)
{
	return report->config.source && !report->config.is_by_task;
}

static void put_header(const struct report *report, const struct report_layout *layout,
		       struct sink *sink)
{
	const struct report_table *table = report_table_of(&report->config);
	const struct column_choice *columns = &report->columns;

	if (columns->nr == 0)
		return;
	for (size_t i = 0; i < columns->nr; i++) {
		const struct report_column *column = &table->columns[columns->columns[i]];

		sink_lit(sink, "  ");
		if (column->cells)
			column->cells->put_header(layout, sink);
		else
			report_put_header_cell(column, layout, sink);
	}
	sink_lit(sink, "  ");
	sink_str(sink, table->name_header);
	if (shows_source(report))
		source_line_put_word(" [Source]", report->config.color, sink);
	sink_lit(sink, "\n");
	for (size_t i = 0; i < columns->nr; i++) {
		const struct report_column *column = &table->columns[columns->columns[i]];

		sink_lit(sink, "  ");
		if (column->cells)
			column->cells->put_underline(layout, sink);
		else
			sink_fill(sink, '=', report_column_width(column, layout));
	}
	sink_lit(sink, "  ");
	sink_fill(sink, '=', NAME_UNDERLINE);
	sink_lit(sink, "\n");
}

static double seconds_from(uint64_t start_ns, uint64_t time_ns)
{
	return (double)(time_ns - MIN(start_ns, time_ns)) / NSEC_PER_SEC;
}

/*
 * Write the note after the name of a function that was recorded only for a part of the time, or
 * whose self time includes functions that were not recorded.
 */
static void put_left_out(const struct report *report, const struct report_row *row,
			 struct sink *sink)
{
	const struct left_func *left = row->func ? left_funcs_find(&report->left, row->func->name)
						 : NULL;
	double since_s = left ? seconds_from(report->first_ns, left->since_ns) : 0;

	if (left && left->until_ns)
		sink_format(sink, " (from %.3f s to %.3f s not recorded: %.1f %% of calls)",
			    since_s, seconds_from(report->first_ns, left->until_ns),
			    left->permille / 10.0);
	else if (left && left->kind == LEFT_OUT_FUNCTION)
		sink_format(sink, " (since %.3f s not recorded: %.1f %% of calls)", since_s,
			    left->permille / 10.0);
	else if (left)
		sink_format(sink, " (since %.3f s not all that it calls is recorded)", since_s);
}

void report_put_row(const struct report *report, const struct report_layout *layout,
		    const struct report_row *row, struct sink *sink)
{
	const struct report_table *table = report_table_of(&report->config);

	for (size_t i = 0; i < report->columns.nr; i++) {
		sink_lit(sink, "  ");
		table->columns[report->columns.columns[i]].put(row, layout, sink);
	}
	sink_lit(sink, "  ");
	table->put_name(row, sink);
	put_left_out(report, row, sink);
	if (shows_source(report))
		source_line_put(report->config.source, row->func, report->config.color, " [", "]",
				sink);
}

static void put_csv_header(const struct report *report, const struct report_layout *layout,
			   struct sink *sink)
{
	const struct report_table *table = report_table_of(&report->config);

	sink_lit(sink, "#");
	for (size_t i = 0; i < report->columns.nr; i++) {
		const struct report_column *column = &table->columns[report->columns.columns[i]];
		const char *header = column->column.header;

		if (column->cells)
			column->cells->put_csv_header(layout, sink);
		else
			sink_str(sink, header + strspn(header, " "));
		sink_lit(sink, ",");
	}
	sink_str(sink, table->name_header);
	sink_lit(sink, "\n");
}

static void put_csv_row(const struct report *report, const struct report_layout *layout,
			const struct report_row *row, struct sink *sink)
{
	const struct report_table *table = report_table_of(&report->config);

	for (size_t i = 0; i < report->columns.nr; i++) {
		table->columns[report->columns.columns[i]].put_csv(row, layout, sink);
		sink_lit(sink, ",");
	}
	table->put_csv_name(row, sink);
	sink_lit(sink, "\n");
}

static size_t collect_funcs(struct aggregate *agg, struct report_row *rows)
{
	for (size_t i = 0; i < agg->nr_rows; i++)
		rows[i] = (struct report_row){
			.func = agg->rows[i].func,
			.stats = &agg->rows[i].stats,
		};
	return agg->nr_rows;
}

static size_t collect_tasks(struct aggregate *agg, struct report_row *rows)
{
	const struct trace_data *data = agg->pipe->data;
	size_t nr = 0;

	for (size_t i = 0; i < data->nr_tasks; i++) {
		if (agg->tasks[i].calls)
			rows[nr++] = (struct report_row){
				.task = &data->tasks[i],
				.task_stats = &agg->tasks[i],
			};
	}
	return nr;
}

int report_rows_make(struct report *report, struct aggregate *agg, struct report_rows *rows,
		     struct uft_err *err)
{
	int ret = report_counters_find(report, agg->pipe->data, err);

	*rows = (struct report_rows){
		.layout = { .color = report->config.color, .counters = &report->counters },
	};
	if (ret < 0)
		return ret;
	if (aggregate_by_name(agg) < 0)
		return err_set_errno(err, -ENOMEM, "cannot add up calls");

	size_t nr = MAX(agg->nr_rows, agg->pipe->data->nr_tasks);

	rows->rows = calloc(nr + 1, sizeof(*rows->rows));
	if (!rows->rows)
		return err_set_errno(err, -ENOMEM, "cannot show %zu rows", nr);
	rows->nr = report->config.is_by_task ? collect_tasks(agg, rows->rows)
					     : collect_funcs(agg, rows->rows);
	report_rows_sort(report, rows);
	report_measure(rows->rows, rows->nr, &rows->layout);
	return 0;
}

void report_rows_deinit(struct report_rows *rows)
{
	free(rows->rows);
	*rows = (struct report_rows){ 0 };
}

void report_rows_sort(struct report *report, struct report_rows *rows)
{
	qsort_r(rows->rows, rows->nr, sizeof(*rows->rows), compare_rows, report);
}

int report_show(struct report *report, struct aggregate *agg, struct sink *sink,
		struct uft_err *err)
{
	struct report_rows rows cleanup(report_rows_deinit);
	int ret = report_rows_make(report, agg, &rows, err);

	if (ret < 0)
		return ret;
	if (report->config.format == REPORT_CSV) {
		sink->medium = MEDIUM_CSV;
		put_csv_header(report, &rows.layout, sink);
		for (size_t i = 0; i < rows.nr; i++)
			put_csv_row(report, &rows.layout, &rows.rows[i], sink);
		return 0;
	}
	if (report->config.format == REPORT_JSON)
		return report_put_json(report, &rows.layout, rows.rows, rows.nr, sink, err);
	sink_page_begin(sink, report->config.color);
	put_header(report, &rows.layout, sink);
	for (size_t i = 0; i < rows.nr; i++) {
		report_put_row(report, &rows.layout, &rows.rows[i], sink);
		sink_lit(sink, "\n");
	}
	sink_page_end(sink, report->config.color);
	return 0;
}
