/* A type of event: a row of the table that every view and exporter asks. */
#ifndef UTRAIL_TRACE_EVENT_KIND_H
#define UTRAIL_TRACE_EVENT_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/event_ids.h"
#include "utils/format/kernel/perf_dat.h"
#include "utils/format/text.h"
#include "utils/spec/events.h"
#include "utils/trace/event.h"

enum event_field_type {
	FIELD_UINT,
	FIELD_DIFF, /* a number by which something grew */
	FIELD_INT,
	FIELD_HEX,
	FIELD_ADDR, /* of an object or a function of the program */
	FIELD_RATIO,
	FIELD_PERCENT,
	FIELD_TEXT,
};

/*
 * One value that an event has.
 *
 * @size: so many bytes of the payload, after those of the fields before it; 0: the rest of it, or
 *        made by the row's get()
 * @unit: after the number, or NULL
 * @place: where the row's get() finds it, in words of that function
 */
struct event_field {
	const char *name;
	enum event_field_type type;
	uint8_t size;
	const char *unit;
	uint8_t place;
};

/* @number: of FIELD_INT the int64_t. @text: valid as long as the event is */
struct event_value {
	enum event_field_type type;
	union {
		uint64_t number;
		double ratio;
		struct text text;
	};
};

/* The one that a value is written for. */
enum value_form {
	VALUE_SHOWN,  /* people: +2, 0x1f, 0.50, 12.50%, "text" */
	VALUE_RAW,    /* the dump of what files have: the same, but 2 */
	VALUE_BARE,   /* people, as arguments of probes: the same as shown, but text */
	VALUE_LOGGED, /* a line of a log: 2, 1f, 0.5000, 12.5000, text */
	VALUE_JSON,   /* 2, "0x1f" (readers keep numbers with 53 bits), 0.5000, 12.5000, "text" */
};

/* Append @value. Only that of VALUE_JSON is escaped. */
void event_value_put(const struct event_value *value, enum value_form how, struct strbuf *out);

/*
 * An event, and the means to read it.
 *
 * @task: NULL: of no task
 * @is_raw: for the dump of what files have: differences have no plus sign
 */
struct event_context {
	const struct trace_data *data;
	const struct task *task;
	const struct event *event;
	bool is_raw;
};

enum event_kind_flags {
	/* Nobody knows that number: the row stands for all of its allotment. */
	EVENT_KIND_NAMELESS = 1U << 0,
	/*
	 * Asked for function by function (-T f@read=..., -W) when it was recorded: shown even when
	 * other events are not.
	 */
	EVENT_KIND_OF_TRIGGER = 1U << 1,
	/* A part of the call that follows it: --Event does not choose it. */
	EVENT_KIND_OF_CALL = 1U << 2,
	/* Asked for by name: the calls around it are shown, however short they are. */
	EVENT_KIND_BY_NAME = 1U << 3,
};

struct declared_event;

/*
 * One type of event.
 *
 * @name: "provider:event", as users type and see it; a few have no provider
 * @get: the field @index; NULL: from the payload, by types and sizes of the fields. False: this
 *       event does not have it
 * @put: its text; NULL: "name=value" of each field that it has
 * @declared: the definition of an event that the program has declared (declared.h), for these two;
 *            else NULL
 */
struct event_kind {
	uint64_t id;
	const char *name;
	enum event_origin origin;
	unsigned flags;
	const struct event_field *fields;
	size_t nr_fields;
	bool (*get)(const struct event_kind *kind, const struct event_context *context,
		    size_t index, struct event_value *out);
	void (*put)(const struct event_kind *kind, const struct event_context *context,
		    struct strbuf *out);
	struct declared_event *declared;
};

/* Fields of a row. */
#define EVENT_FIELDS(array) .fields = (array), .nr_fields = ARRAY_SIZE(array)

/* Rows that are known without a recording, their ids rising. */
struct event_rows {
	const struct event_kind *rows;
	size_t nr;
};

extern const struct event_rows event_rows_builtin;
extern const struct event_rows event_rows_linux;
extern const struct event_rows event_rows_limit;
extern const struct event_rows event_rows_proc;
extern const struct event_rows event_rows_proc_acts;
extern const struct event_rows event_rows_extern;
/*
 * The rows of a program that links this library and has types of its own; utrail has none, the
 * worked example in tests/unit has one.
 */
extern const struct event_rows event_rows_extra __attribute__((weak));

/*
 * The kinds of all counters, by the remainder of their id divided by two: a reading, a difference.
 */
extern const struct event_kind event_kinds_counter[2];

/*
 * The counter's name, and its place among those of the recording, for a kind that says how a
 * counter has grown. NULL: it is another kind.
 */
const char *event_kind_counter(const struct event_kind *kind, size_t *index);

/*
 * The value in the records of a counter's event (struct event.data); false when one of them is
 * missing.
 */
bool event_counter_value(const uint8_t *records, size_t len, bool big, uint64_t *out);

/* All of them. */
#define EVENT_ROWS                                                                       \
	&event_rows_builtin, &event_rows_linux, &event_rows_proc, &event_rows_proc_acts, \
		&event_rows_limit, &event_rows_extern, &event_rows_extra

/* The id of a record of perf-cpu*.dat; 0: nothing that is shown. */
enum event_id event_id_of_perf(enum perf_record_type type);

/*
 * The row of @id among those, or else the one for numbers of its allotment that have no name; never
 * NULL.
 */
const struct event_kind *event_kind_fixed(uint64_t id);

/* True for a tracepoint, of whatever name. */
static inline bool event_id_is_of_kernel(uint64_t id)
{
	return event_kind_fixed(id)->origin == EVENT_OF_KERNEL;
}

/* One of its fields; false when @context's event does not have it. */
bool event_kind_get(const struct event_kind *kind, const struct event_context *context,
		    size_t index, struct event_value *out);

/* The same without the row's own get(): the bytes at its place of the payload. */
bool event_payload_get(const struct event_kind *kind, const struct event_context *context,
		       size_t index, struct event_value *out);

/* All that it says, in one line; nothing when it says nothing. */
void event_kind_put(const struct event_kind *kind, const struct event_context *context,
		    struct strbuf *out);

/* "provider:event", or "user_event:1000007" for one without a name. @id: of the event */
void event_kind_put_name(const struct event_kind *kind, uint64_t id, struct strbuf *out);

#endif
