/* View: differences between recordings, function by function (doc/facts/text.md, "Report"). */
#ifndef UTRAIL_VIEW_REPORT_DIFF_H
#define UTRAIL_VIEW_REPORT_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/color.h"
#include "utils/base/err.h"
#include "utils/view/report/report.h"

/* The numbers of a row that rows are sorted by. */
enum diff_column {
	DIFF_COLUMN_BASE,
	DIFF_COLUMN_PAIR,
	DIFF_COLUMN_DIFF,
};

/*
 * @base: the recording that @pairs are compared with; of several pairs the average counts
 * @policy: of --diff-policy, or NULL
 * @shows_source: source lines after names
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
/* The limit of counters. Compared recordings may have different ones. */
#define DIFF_COUNTERS_MAX (2 * COUNTERS_MAX)

/*
 * Starts with report_diff_init(); needs no end.
 *
 * @keys: the numbers of keys. Fields come first, then one number for the name, then the places in
 *        @key_counters
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
 * Returns -ERR_USAGE for an unknown field, sort key or word of the policy, with a message that has
 * the known ones.
 */
int report_diff_init(struct report_diff *diff, const struct diff_config *config,
		     struct uft_err *err);

/*
 * Prepare for the needs of @diff: report_diff_configure() before the pipelines are opened,
 * report_diff_prepare() before the runs.
 */
void report_diff_configure(const struct report_diff *diff, struct pipeline_config *config);
void report_diff_prepare(const struct report_diff *diff, struct aggregate *agg);

/*
 * Call this after the runs. @aggs[0] is the base, the others are the pairs. Returns -ENOMEM when
 * memory is short.
 */
int report_diff_show(const struct report_diff *diff, struct aggregate *aggs, size_t nr,
		     struct sink *sink, struct uft_err *err);

#endif
