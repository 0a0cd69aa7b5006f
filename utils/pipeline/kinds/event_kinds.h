/*
 * The table of event types of one recording: those that need no file, and the names in events.txt
 * and kernel_header.
 */
#ifndef UTRAIL_PIPELINE_EVENT_KINDS_H
#define UTRAIL_PIPELINE_EVENT_KINDS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/pipeline/kinds/declared.h"
#include "utils/pipeline/kinds/event_kind.h"

/*
 * Starts as { 0 }, ends with event_kinds_deinit().
 *
 * @data: the recording of the events, borrowed
 * @kinds: events of the program and of the kernel, sorted by id; their names are on the heap
 * @declared: the definitions of events that the program has declared
 */
struct event_kinds {
	const struct trace_data *data;
	struct event_kind *kinds;
	size_t nr;
	struct declared_events declared;
};

/* Read events.txt if the recording has one. The known events of the kernel are those of @data. */
int event_kinds_load(struct event_kinds *kinds, const struct trace_data *data, struct uft_err *err);
void event_kinds_deinit(struct event_kinds *kinds);

/*
 * Look up an event's kind. No other function does that. Never NULL: unknown ids get the nameless
 * row of their range. Valid until the next call. In a growing recording, names come with their
 * first events: then events.txt is read again.
 */
const struct event_kind *event_kinds_find(struct event_kinds *kinds, uint64_t id);

/*
 * Call @fn with each type that may be in the recording, up to the first negative result of @fn.
 * Returns this result, or 0.
 */
int event_kinds_each(const struct event_kinds *kinds,
		     int (*fn)(void *self, const struct event_kind *kind), void *self);

#endif
