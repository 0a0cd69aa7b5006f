/*
 * The columns of counters in a report. Each counter has two columns: the growth in all calls of a
 * function, and the average growth in one call. Private to report*.c.
 */
#ifndef UTRAIL_VIEW_REPORT_COUNTERS_H
#define UTRAIL_VIEW_REPORT_COUNTERS_H

#include "utils/view/report/report_columns.h"

extern const struct report_cells report_counter_cells;

void report_put_counters(const struct report_row *row, const struct report_layout *layout,
			 struct sink *sink);
void report_put_csv_counters(const struct report_row *row, const struct report_layout *layout,
			     struct sink *sink);

/*
 * Set report->counters from @data. If the recording has no counters, the report has no columns for
 * counters. Returns 0, -ERR_USAGE when a sort key is a counter that the recording does not have, or
 * -ENOMEM.
 */
int report_counters_find(struct report *report, const struct trace_data *data, struct uft_err *err);
void report_counters_deinit(struct report_counters *counters);

/* Compare rows by report->key_counters[@key], the largest first. */
int report_compare_counters(const struct report *report, size_t key, const struct report_row *x,
			    const struct report_row *y);

#endif
