/*
 * For report: the tables of columns and sort keys, and the rows. Private to
 * utils/view/report/report*.c and cmds/tui.
 */
#ifndef UTRAIL_VIEW_REPORT_COLUMNS_H
#define UTRAIL_VIEW_REPORT_COLUMNS_H

#include "utils/view/report/report.h"

/* A row for a function (@func, @stats) or a task (@task, @task_stats). */
struct report_row {
	const struct func *func;
	const struct call_stats *stats;
	const struct task *task;
	const struct task_stats *task_stats;
};

struct report_layout {
	enum color_mode color;
	unsigned nr_mask_groups; /* number of groups of 32 CPUs */
	unsigned cpu_list_width;
	const struct report_counters *counters;
};

enum report_needs {
	REPORT_NEEDS_DETAILS = 1,
	REPORT_NEEDS_CPUS = 2,
	REPORT_NEEDS_HIST = 4,
};

/*
 * @cells: functions for a column that has several cells in each row (the counters); NULL: each row
 *         has one cell
 * @is_text: the cells are strings in JSON, even those that consist of digits
 */
struct report_column {
	struct column column;
	void (*put)(const struct report_row *row, const struct report_layout *layout,
		    struct sink *sink);
	void (*put_csv)(const struct report_row *row, const struct report_layout *layout,
			struct sink *sink);
	unsigned needs;
	const struct report_cells *cells;
	bool is_text;
};

struct report_cells {
	void (*put_header)(const struct report_layout *layout, struct sink *sink);
	void (*put_underline)(const struct report_layout *layout, struct sink *sink);
	void (*put_csv_header)(const struct report_layout *layout, struct sink *sink);
	/* writes ,"name":value for each number that is known */
	void (*put_json)(const struct report_row *row, const struct report_layout *layout,
			 struct sink *sink);
};

/*
 * @total_name: a short name for this key, valid only with --avg-total; NULL: none
 * @self_name: a short name for this key, valid only with --avg-self; NULL: none
 */
struct report_key {
	const char *name;
	int (*compare)(const struct report_row *x, const struct report_row *y);
	const char *total_name;
	const char *self_name;
	unsigned needs;
};

struct report_table {
	const struct report_column *columns;
	size_t nr_columns;
	const struct report_key *keys;
	size_t nr_keys;
	int (*compare_last)(const struct report_row *x, const struct report_row *y);
	const char *name_header;
	const char *name_key; /* the JSON member that has the row's name */
	void (*put_name)(const struct report_row *row, struct sink *sink);
	void (*put_csv_name)(const struct report_row *row, struct sink *sink);
};

extern const struct report_table report_func_table;
extern const struct report_table report_task_table;

const struct report_table *report_table_of(const struct report_config *config);

/* Write an array of JSON objects, one for each row. Returns 0 or -ENOMEM with @err. */
int report_put_json(const struct report *report, const struct report_layout *layout,
		    const struct report_row *rows, size_t nr, struct sink *sink,
		    struct uft_err *err);

/* The sorted rows of a table. The rows refer to an aggregate, which must outlive the rows. */
struct report_rows {
	struct report_row *rows;
	size_t nr;
	struct report_layout layout;
};

/*
 * Call this after the last event. Returns 0, or a negative errno with @err. Even after an error,
 * the caller must call report_rows_deinit().
 */
int report_rows_make(struct report *report, struct aggregate *agg, struct report_rows *rows,
		     struct uft_err *err);
void report_rows_deinit(struct report_rows *rows);

/* Sort the rows again, by the keys of @report. */
void report_rows_sort(struct report *report, struct report_rows *rows);

/* Write one row without a newline. */
void report_put_row(const struct report *report, const struct report_layout *layout,
		    const struct report_row *row, struct sink *sink);

void report_measure(const struct report_row *rows, size_t nr, struct report_layout *layout);
unsigned report_column_width(const struct report_column *column,
			     const struct report_layout *layout);
void report_put_header_cell(const struct report_column *column, const struct report_layout *layout,
			    struct sink *sink);

#endif
