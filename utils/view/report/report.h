/* View: a table of functions or of tasks with their times (doc/facts/text.md, "Report"). */
#ifndef UTRAIL_VIEW_REPORT_H
#define UTRAIL_VIEW_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "utils/base/color.h"
#include "utils/base/err.h"
#include "utils/pipeline/recording/left_funcs.h"
#include "utils/view/report/aggregate.h"
#include "utils/view/column.h"
#include "utils/base/sink.h"

enum report_average {
	REPORT_AVERAGE_NONE,
	REPORT_AVERAGE_TOTAL, /* average, minimum, maximum, deviation of the total time */
	REPORT_AVERAGE_SELF,
};

enum report_format {
	REPORT_TEXT, /* text, or HTML when the color_mode is COLOR_MODE_HTML */
	REPORT_CSV,
	REPORT_JSON,
};

struct report_config {
	enum color_mode color;
	const char *fields;    /* the argument of -f, or NULL */
	const char *sort_keys; /* the argument of -s (separated by commas), or NULL */
	enum report_average average;
	bool is_by_task;
	enum report_format format;
	struct module_set *source; /* finds source lines, shown after function names; NULL: none */
	bool counts_outside;	   /* false: ignore off-CPU time outside of calls */
};

#define SORT_KEYS_MAX 32

/*
 * The counters of a recording. @index: the index in counter_sums. @width: the width of the
 * counter's column
 */
struct report_counters {
	struct report_counter {
		char *name;
		size_t index;
		unsigned width;
	} list[COUNTERS_MAX];
	size_t nr;
};

/*
 * Starts with report_init(); ends with report_deinit(). The caller sets @left and @first_ns.
 *
 * @left: the functions whose names get a note, because these functions or their callees were left
 *        out of the recording for some time
 * @first_ns: the notes show times as seconds after @first_ns
 */
struct report {
	struct report_config config;
	struct left_funcs left;
	uint64_t first_ns;
	struct column_choice columns;
	uint8_t keys
		/*
		 * A number below report_table.nr_keys is an index in report_table.keys. Any other
		 * number is report_table.nr_keys plus an index in @key_counters.
		 */
		[SORT_KEYS_MAX];
	size_t nr_keys;
	struct counters key_counters;
	struct report_counters counters; /* set by report_rows_make() */
};

/*
 * Returns 0, -ERR_USAGE for an unknown field, or -EINVAL for an unknown sort key. The message for
 * an unknown field lists the known fields. The message for an unknown sort key lists the known sort
 * keys.
 */
int report_init(struct report *report, const struct report_config *config, struct uft_err *err);
void report_deinit(struct report *report);

/*
 * Ask for the data that the chosen columns and keys need. Call report_configure() before the
 * pipeline is opened, and report_prepare() before its first event.
 */
void report_configure(const struct report *report, struct pipeline_config *config);
void report_prepare(const struct report *report, struct aggregate *agg);

/* Call this after the last event. Returns 0, or a negative errno with @err. */
int report_show(struct report *report, struct aggregate *agg, struct sink *sink,
		struct uft_err *err);

#endif
