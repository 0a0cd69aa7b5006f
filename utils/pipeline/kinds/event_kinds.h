/* The event types of one recording: fixed ones, and those of events.txt and kernel_header. */
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
 * @declared: definitions of the events that the program has declared
 */
struct event_kinds {
	const struct trace_data *data;
	struct event_kind *kinds;
	size_t nr;
	struct declared_events declared;
};

/*
 * Read the files events.def and events.txt, if the recording has them. The types of kernel events
 * come from @data.
 */
int event_kinds_load(struct event_kinds *kinds, const struct trace_data *data, struct uft_err *err);
void event_kinds_deinit(struct event_kinds *kinds);

/*
 * Find the kind of an event. The result is valid until the function is called again. If the id is
 * unknown in a growing recording, events.txt is read again, because a line for the id may have been
 * added. If the id is still unknown, the result is the kind of all unnamed events in the
 * same range of ids (event_kind_fixed()).
 */
const struct event_kind *event_kinds_find(struct event_kinds *kinds, uint64_t id);

/*
 * Call @fn with each type that may be in the recording. A negative result of @fn ends the loop.
 * Returns this result, or 0.
 */
int event_kinds_each(const struct event_kinds *kinds,
		     int (*fn)(void *self, const struct event_kind *kind), void *self);

#endif
