/* View: a table of events: how often each occurred, and the times between two occurrences. */
#ifndef UTRAIL_VIEW_REPORT_EVENTS_H
#define UTRAIL_VIEW_REPORT_EVENTS_H

#include "utils/base/containers/intmap.h"
#include "utils/base/containers/strmap.h"
#include "utils/view/column.h"
#include "utils/view/values/eventtext.h"
#include "utils/view/report/report.h"
#include "utils/view/report/report_hist.h"

/*
 * All events of one name, in all tasks. @between: the times from each occurrence to the next
 * occurrence, which may be in another task
 */
struct event_row {
	char *name;
	uint64_t nr;
	uint64_t last_ns;
	struct hist between;
};

/*
 * Starts with report_events_init(), ends with report_events_deinit().
 *
 * @by_id, @by_name: the elements of @rows, for look-ups
 * @nr_events: the number of events in all rows
 * @first_ns, @last_ns: the times of the first and the last event in the pipeline. These two events
 *                      may be entries or exits of calls
 */
struct report_events {
	struct report_config config;
	struct column_choice columns;
	uint8_t keys[SORT_KEYS_MAX];
	size_t nr_keys;
	struct event_texts texts;
	struct event_row **rows;
	size_t nr_rows;
	struct intmap by_id;
	struct strmap by_name;
	uint64_t nr_events;
	uint64_t first_ns;
	uint64_t last_ns;
};

/*
 * Returns 0, -ERR_USAGE for an unknown field, or -EINVAL for an unknown sort key. The message of
 * the error lists the known fields or the known sort keys.
 *
 * @config: only color, fields, sort_keys and format are used
 */
int report_events_init(struct report_events *report, const struct report_config *config,
		       struct uft_err *err);
void report_events_deinit(struct report_events *report);

/* Ask the pipeline for the events that the report needs. */
void report_events_configure(struct pipeline_config *config);

/* Run @pipe, and count its events. Returns 0, or a negative errno with @err. */
int report_events_run(struct report_events *report, struct pipeline *pipe, struct uft_err *err);
int report_events_show(struct report_events *report, struct sink *sink, struct uft_err *err);

#endif
