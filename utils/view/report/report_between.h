/* View: the times from one event to another, for example from a request to its reply. */
#ifndef UTRAIL_VIEW_REPORT_BETWEEN_H
#define UTRAIL_VIEW_REPORT_BETWEEN_H

#include "utils/base/containers/intmap.h"
#include "utils/view/values/eventtext.h"
#include "utils/view/replay/pending.h"
#include "utils/view/report/report.h"
#include "utils/view/report/report_hist.h"

#define BETWEEN_FIELDS_MAX 16

struct between_kind;

/*
 * Starts with report_between_init(), ends with report_between_deinit().
 *
 * @names: the names of the first and the second event
 * @fields: the fields that must have equal values in both events
 * @kinds: the event kinds that match a name in @names; the key is the kind's id
 * @all: the elements of @kinds
 * @pending: the first events that wait for a second event
 * @nr_begun: the number of events that have the first name and all fields
 * @nr_ended: the number of events that have the second name and all fields
 * @nr_without: events that lack a field
 * @nr_alone: the number of second events without a first event in @pending
 * @nr_again: the number of first events that were followed by another first event before any
 *            second event
 * @nr_unfollowed: the number of first events for which @pending had no room
 */
struct report_between {
	enum color_mode color;
	enum report_format format;
	char *text;
	const char *names[2];
	const char *fields[BETWEEN_FIELDS_MAX];
	size_t nr_fields;
	struct event_texts texts;
	struct intmap kinds;
	struct between_kind **all;
	size_t nr_kinds;
	struct strbuf key;
	struct strbuf value;
	struct pending pending;
	struct hist times;
	uint64_t nr_begun;
	uint64_t nr_ended;
	uint64_t nr_without;
	uint64_t nr_alone;
	uint64_t nr_again;
	uint64_t nr_unfollowed;
};

/* @text has the form "ID1,ID2[,FIELD...]". Returns 0, or -ERR_USAGE or -ENOMEM with @err. */
int report_between_init(struct report_between *between, const char *text, enum color_mode color,
			enum report_format format, struct uft_err *err);
void report_between_deinit(struct report_between *between);

/*
 * Run @pipe, which report_events_configure() has configured. Returns 0, or a negative errno with
 * @err. For each of between->names, the recording must have an event that has this name and all of
 * between->fields. Otherwise, returns -ENOENT.
 */
int report_between_run(struct report_between *between, struct pipeline *pipe, struct uft_err *err);

void report_between_show(const struct report_between *between, struct sink *sink);

#endif
