/* The rows of a comparison, and what is in their columns. Private to utils/view/report_diff*.c. */
#ifndef UTRAIL_VIEW_REPORT_DIFF_ROWS_H
#define UTRAIL_VIEW_REPORT_DIFF_ROWS_H

#include "utils/view/aggregate.h"
#include "utils/view/column.h"
#include "utils/view/report_diff.h"
#include "utils/view/sink.h"

/* A function in one recording, or in several together. */
struct side {
	struct call_stats stats;
	uint64_t size;
	unsigned nr_runs;
};

/* @modules: of the recording that @func is of */
struct diff_row {
	const struct func *func;
	struct module_set *modules;
	struct side base;
	struct side pair;
};

enum field_kind {
	FIELD_TIME,
	FIELD_COUNT,
	FIELD_DEVIATION,
};

struct diff_field {
	struct column column;
	enum field_kind kind;
	double (*value)(const struct side *side);
	bool needs_details;
};

#define DIFF_FIELDS 12
extern const struct diff_field diff_fields[DIFF_FIELDS];

/* The change in percent; false, with 0, when one side has nothing to compare. */
bool diff_percent(double base, double pair, double *percent);

/* All rows in their order. */
void report_diff_put_table(const struct report_diff *diff, const struct diff_row *rows, size_t nr,
			   struct sink *sink);
/* Three numbers for each field: base, pair, change. */
void report_diff_put_csv(const struct report_diff *diff, const struct diff_row *rows, size_t nr,
			 struct sink *sink);
void report_diff_put_json(const struct report_diff *diff, const struct diff_row *rows, size_t nr,
			  struct sink *sink);

#endif
