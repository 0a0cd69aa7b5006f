/*
 * The table of event types of one recording: those that need no file, and the names in events.txt
 * and kernel_header.
 */
#ifndef UTRAIL_TRACE_EVENT_KINDS_H
#define UTRAIL_TRACE_EVENT_KINDS_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/trace/kinds/declared.h"
#include "utils/trace/kinds/event_kind.h"

/*
 * Starts as { 0 }, ends with event_kinds_deinit().
 *
 * @data: the recording that they are of, borrowed
 * @kinds: of the program and of the kernel, sorted by id; their names are of the heap
 * @declared: the definitions of those that the program has declared
 */
struct event_kinds {
	const struct trace_data *data;
	struct event_kind *kinds;
	size_t nr;
	struct declared_events declared;
};

/*
 * Reads events.txt when the recording says that it has one. The kernel's events are known as far as
 * @data knows them.
 */
int event_kinds_load(struct event_kinds *kinds, const struct trace_data *data, struct uft_err *err);
void event_kinds_deinit(struct event_kinds *kinds);

/*
 * The one place where everybody finds out the kind of an event. Never NULL: for a number that
 * nobody knows, the row that says so. Valid until the next call. In a recording that grows, names
 * come with their first events: then events.txt is read again.
 */
const struct event_kind *event_kinds_find(struct event_kinds *kinds, uint64_t id);

/*
 * Call @fn with each type that there may be in the recording, until it returns something negative,
 * which is returned; else 0.
 */
int event_kinds_each(const struct event_kinds *kinds,
		     int (*fn)(void *self, const struct event_kind *kind), void *self);

#endif
