/*
 * Events that programs declare. The file events.def defines the events and the fields of their
 * payloads (doc/formats/records.md, "Payload files").
 */
#ifndef UTRAIL_PIPELINE_DECLARED_H
#define UTRAIL_PIPELINE_DECLARED_H

#include "trace/seam/reader.h"
#include "utils/base/err.h"
#include "utils/pipeline/kinds/event_kind.h"

/*
 * A declared event. It has formats, or is a line of a log (declared_line.h), or is a static probe
 * with arguments (declared_probe.h).
 *
 * @name: as in the program; on the heap
 * @is_line: the event is a line of a log
 * @types: the types of a static probe's arguments, on the heap; else NULL
 * @probe_types: @types as declared_probe.c has parsed them
 * @common: the format in front of @format; NULL: none
 * @fields: one for each directive of both formats, or for each key of a line, or for each argument
 *          of a probe
 * @texts: texts of formatted fields; each is valid until its field is read again
 */
struct declared_event {
	uint64_t id;
	char *name;
	bool is_line;
	char *types;
	uint8_t *probe_types;
	struct fst_format *common;
	struct fst_format *format;
	struct event_field *fields;
	struct strbuf *texts;
	size_t nr_fields;
};

/*
 * The declared events of a recording. Starts as { 0 }, ends with declared_events_deinit().
 *
 * @offset_ns: the time of day minus the time of the recording's clock
 */
struct declared_events {
	struct declared_event *events; /* sorted by id */
	size_t nr;
	int64_t offset_ns;
};

/*
 * Load events.def of the recording in @dir, if there is such a file. Unknown and invalid lines are
 * skipped. Returns 0, or a negative errno with @err.
 */
int declared_events_load(struct declared_events *declared, const char *dir, struct uft_err *err);
void declared_events_deinit(struct declared_events *declared);

/*
 * declared_make_room() allocates memory for @nr fields. declared_add_field() appends a field, whose
 * @name is on the heap or NULL. Both return 0 or -ENOMEM.
 */
int declared_make_room(struct declared_event *event, size_t nr);
int declared_add_field(struct declared_event *event, char *name, enum event_field_type type);

/* Find the event with this id. Returns NULL if there is none. */
struct declared_event *declared_events_find(const struct declared_events *declared, uint64_t id);

/*
 * Give @kind the fields of @event, and the functions that read these fields and write the event's
 * text. @kind must have the id of @event.
 */
void declared_event_set(struct declared_event *event, struct event_kind *kind);

/*
 * For an event that was imported from a line of a log: read the time of this line, in microseconds
 * since 1970, from the event's payload @data. Returns false for any other event.
 */
bool declared_line_time(const struct declared_event *event, const void *data, size_t len,
			int64_t *time_us);

#endif
