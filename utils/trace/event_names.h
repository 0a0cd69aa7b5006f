/* What events are called (doc/formats/records.md, "Events"): events.txt, kernel_header, and what needs no file. */
#ifndef UTRAIL_TRACE_EVENT_NAMES_H
#define UTRAIL_TRACE_EVENT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/spec/events.h"
#include "utils/trace/event.h"

/*
 * Names of the program's events and of the kernel's, sorted by id. Starts as { 0 }, ends with event_names_deinit().
 *
 * @data: the recording that they are of, borrowed
 */
struct event_names {
	const struct trace_data *data;
	struct event_name {
		uint64_t id;
		char *name;
	} * names;
	size_t nr;
};

/* Reads events.txt when the recording says that it has one. What is known of the kernel's events is what is in @data. */
int event_names_load(struct event_names *names, const struct trace_data *data, struct uft_err *err);
void event_names_deinit(struct event_names *names);

/*
 * "linux:sched-out", "read:proc/statm", "provider:event"; NULL when nobody knows. Valid until the next call. Of a recording that
 * grows, names come with their first events: then events.txt is read again.
 */
const char *event_names_find(struct event_names *names, uint64_t id);

/* Where events with that id come from. */
static inline enum event_origin event_origin_of(uint64_t id)
{
	return id < EVENT_ID_BUILTIN ? EVENT_OF_KERNEL : EVENT_OF_PROGRAM;
}

/* Call @fn with each name that there may be in the recording, until it returns something negative, which is returned; else 0. */
int event_names_each(const struct event_names *names,
		     int (*fn)(void *self, uint64_t id, const char *name), void *self);

#endif
