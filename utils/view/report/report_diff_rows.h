/*
 * The rows and fields of a comparison of recordings. Private to utils/view/report/report_diff*.c.
 */
#ifndef UTRAIL_VIEW_REPORT_DIFF_ROWS_H
#define UTRAIL_VIEW_REPORT_DIFF_ROWS_H

#include "utils/view/report/aggregate.h"
#include "utils/view/column.h"
#include "utils/view/report/report_diff.h"
#include "utils/base/sink.h"

/*
 * @sum: the growth of a counter, summed over the calls for which the growth is known
 * @calls: the number of these calls
 */
struct counter_side {
	uint64_t sum;
	uint64_t calls;
};

/* Statistics of a function in one recording, or sums over several recordings. */
struct side {
	struct call_stats stats;
	uint64_t size;
	unsigned nr_runs;
	struct counter_side counters[DIFF_COUNTERS_MAX];
};

/* @modules: the modules of the recording that has @func */
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
	FIELD_MEAN,	/* a count with a fraction */
	FIELD_COUNTERS, /* stands for two fields of each counter */
};

/*
 * @value: returns the number of one side, or NAN when it is unknown
 * @counter: the index in side.counters, if the field shows a counter
 */
struct diff_field {
	struct column column;
	enum field_kind kind;
	double (*value)(const struct side *side, const struct diff_field *field);
	bool needs_details;
	uint8_t counter;
};

/*
 * The last field stands for the fields of all counters. This field has no value by which rows could
 * be sorted, so this field is not a sort key.
 */
#define DIFF_FIELDS	13
#define DIFF_FIELD_KEYS (DIFF_FIELDS - 1)
extern const struct diff_field diff_fields[DIFF_FIELDS];

/* Two fields of a counter: its growth during all calls of a recording, and its growth per call. */
extern const struct diff_field diff_counter_fields[2];

/*
 * The fields of one comparison.
 *
 * @keys: the sort keys; a key without @value sorts by name, and the keys after it have no effect
 * @names: the names of counters; names[i] belongs to side.counters[i]
 * @titles: two texts for the field "per call" of counter i: titles[2 * i] is column.header, and
 *          titles[2 * i + 1] is column.name
 */
struct diff_table {
	const struct report_diff *diff;
	struct diff_field fields[DIFF_FIELDS + 2 * DIFF_COUNTERS_MAX];
	size_t nr_fields;
	struct diff_field keys[DIFF_KEYS_MAX];
	size_t nr_keys;
	char *names[DIFF_COUNTERS_MAX];
	size_t nr_names;
	char *titles[2 * DIFF_COUNTERS_MAX];
};

/*
 * Find the counters of the recordings, and set the fields of @table. The caller frees @table with
 * diff_table_deinit(). Returns 0, -ERR_USAGE when a sort key is a counter that no recording has, or
 * -ENOMEM.
 */
int diff_table_init(struct diff_table *table, const struct report_diff *diff,
		    const struct aggregate *aggs, size_t nr, struct uft_err *err);
void diff_table_deinit(struct diff_table *table);

/*
 * Find the counters of @table in the recording of @agg. places[i] becomes the index of names[i] in
 * counter_sums, or -1. Returns 0, or a negative errno with @err.
 */
int diff_table_places(const struct diff_table *table, const struct aggregate *agg,
		      int places[static DIFF_COUNTERS_MAX], struct uft_err *err);

/*
 * Compute the change in percent. If one side has no value, sets *@percent to 0, and returns false.
 */
bool diff_percent(double base, double pair, double *percent);

/* Returns the text that explains the plus and minus signs of changes of times. */
const char *report_diff_sign_text(const struct report_diff *diff);

void report_diff_put_table(const struct diff_table *table, const struct diff_row *rows, size_t nr,
			   struct sink *sink);
/* Write three numbers for each field: of diff_row.base, of diff_row.pair, and the change. */
void report_diff_put_csv(const struct diff_table *table, const struct diff_row *rows, size_t nr,
			 struct sink *sink);
void report_diff_put_json(const struct diff_table *table, const struct diff_row *rows, size_t nr,
			  struct sink *sink);

#endif
