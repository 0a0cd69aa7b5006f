/* View: differences between recordings, function by function (doc/facts/text.md, "Report"). */
#ifndef UTRAIL_VIEW_REPORT_DIFF_H
#define UTRAIL_VIEW_REPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/color.h"
#include "utils/base/err.h"
#include "utils/view/report/report.h"

/*
 * The number by which rows are sorted. In a row, each sort key has three numbers:
 * - DIFF_COLUMN_BASE: the number of the base (the first recording)
 * - DIFF_COLUMN_PAIR: the number of the pair (the average of all other recordings)
 * - DIFF_COLUMN_DIFF: the change from the base to the pair
 */
enum diff_column {
	DIFF_COLUMN_BASE,
	DIFF_COLUMN_PAIR,
	DIFF_COLUMN_DIFF,
};

/*
 * @fields, @sort_keys, @policy: the arguments of -f, -s and --diff-policy, or NULL
 * @shows_source: after the name of a function, show the function's source file and line number
 */
struct diff_config {
	enum color_mode color;
	const char *fields;
	const char *sort_keys;
	const char *policy;
	enum report_average average;
	enum report_format format;
	enum diff_column sort_column;
	bool counts_outside;
	bool shows_source;
};

#define DIFF_KEYS_MAX	  32
/* The maximum number of counters. Two compared recordings may have different counters. */
#define DIFF_COUNTERS_MAX (2 * COUNTERS_MAX)

/*
 * report_diff_init() fills in the struct. The struct owns no memory.
 *
 * @keys: a number for each sort key. For a field, the number is the field's index in diff_fields.
 *        For the name, the number is DIFF_FIELD_KEYS. For a counter, the number is the counter's
 *        index in @key_counters plus DIFF_FIELD_KEYS + 1
 */
struct report_diff {
	struct diff_config config;
	struct column_choice columns;
	uint8_t keys[DIFF_KEYS_MAX];
	size_t nr_keys;
	struct counters key_counters;
	bool is_absolute;
	bool is_compact;
	bool is_percent;
};

/*
 * Returns 0, or -ERR_USAGE if a field, a sort key, or a word of the policy is unknown. The error's
 * message lists the known words.
 */
int report_diff_init(struct report_diff *diff, const struct diff_config *config,
		     struct uft_err *err);

/*
 * Make the pipelines and aggregates provide the data that @diff needs. Call report_diff_configure()
 * before a pipeline is opened. Call report_diff_prepare() before an aggregate gets its first event.
 */
void report_diff_configure(const struct report_diff *diff, struct pipeline_config *config);
void report_diff_prepare(const struct report_diff *diff, struct aggregate *agg);

/*
 * Call this after the last events. @aggs has an aggregate for each of @nr recordings. The base,
 * @aggs[0], is compared with the average of all other aggregates. Returns 0, or a negative errno
 * with @err.
 */
int report_diff_show(const struct report_diff *diff, struct aggregate *aggs, size_t nr,
		     struct sink *sink, struct uft_err *err);

#endif
