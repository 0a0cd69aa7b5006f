/* Types of events: rows of tables that all views and exporters use. */
#ifndef UTRAIL_PIPELINE_EVENT_KIND_H
#define UTRAIL_PIPELINE_EVENT_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/format/event_ids.h"
#include "utils/format/kernel/perf_dat.h"
#include "utils/format/text.h"
#include "utils/spec/events.h"
#include "utils/pipeline/event.h"

enum event_field_type {
	FIELD_UINT,
	FIELD_DIFF, /* the change of a number, with its sign */
	FIELD_INT,
	FIELD_HEX,
	FIELD_ADDR, /* the address of an object or a function of the program */
	FIELD_RATIO,
	FIELD_PERCENT,
	FIELD_TEXT,
};

/*
 * A field of an event.
 *
 * @size: the size of the field in bytes; 0: a text up to the end of the payload, or a value that
 *        the kind's get() makes. In the payload, each field follows the previous field
 * @unit: the unit of the value, as text; NULL: no unit
 * @place: a number whose meaning the kind's get() defines
 */
struct event_field {
	const char *name;
	enum event_field_type type;
	uint8_t size;
	const char *unit;
	uint8_t place;
};

/*
 * @number: unsigned; for FIELD_INT and FIELD_DIFF, the bits of an int64_t
 * @ratio: for FIELD_RATIO and FIELD_PERCENT
 * @text: for FIELD_TEXT; valid as long as the event
 */
struct event_value {
	enum event_field_type type;
	union {
		uint64_t number;
		double ratio;
		struct text text;
	};
};

/* The forms in which a value can be written as text. */
enum value_form {
	VALUE_SHOWN, /* for people: +2, 0x1f, 0.50, 12.50%, "text" */
	VALUE_RAW,   /* for dumps of recorded files: as VALUE_SHOWN, but 2 instead of +2 */
	/* for people, but only for arguments of static probes: as VALUE_SHOWN, without quotes */
	VALUE_BARE,
	VALUE_LOGGED, /* for a line of a log: 2, 1f, 0.5000, 12.5000, text */
	/*
	 * for JSON: 2, "0x1f", 0.5000, 12.5000, "text". Hexadecimal numbers are strings, because
	 * many readers of JSON keep only 53 bits of a number
	 */
	VALUE_JSON,
};

/* Append @word, in quotes if a shell needs them. */
void event_word_put(const struct text *word, struct strbuf *out);

/* Append @value. Only VALUE_JSON escapes characters of a text. */
void event_value_put(const struct event_value *value, enum value_form how, struct strbuf *out);

/*
 * An event, and the data that are needed to interpret the event.
 *
 * @task: NULL: the event belongs to no task
 * @is_raw: a positive FIELD_DIFF value is written without a plus sign, as in dumps of recorded
 *         files
 */
struct event_context {
	const struct trace_data *data;
	const struct task *task;
	const struct event *event;
	bool is_raw;
};

enum event_kind_flags {
	/* The row stands for all ids of its range that have no row of their own. */
	EVENT_KIND_NAMELESS = 1U << 0,
	/* The event was requested for single functions (-T f@read=..., -W), and is always shown. */
	EVENT_KIND_OF_TRIGGER = 1U << 1,
	/* The event belongs to the call that follows. --Event neither shows nor hides the event. */
	EVENT_KIND_OF_CALL = 1U << 2,
	/* The event was requested by name. Even the shortest calls around it are shown. */
	EVENT_KIND_BY_NAME = 1U << 3,
};

struct declared_event;

/*
 * One type of event.
 *
 * @name: "provider:event", the name that users enter and that views show; a few names have no
 *        provider
 * @get: gets the field @index, or returns false if the event does not have this field. NULL: the
 *       fields are read from the payload, with the types and sizes in @fields
 * @put: writes the event's text. NULL: the text is "name=value" of each field that the event has
 * @declared: the definition of an event that the program has declared (declared.h); else NULL
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

#define EVENT_FIELDS(array) .fields = (array), .nr_fields = ARRAY_SIZE(array)

/* A table of event types that are known without a recording. The ids of the rows ascend. */
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
 * A program that links the code of utrail can have its own kinds of events. Such a program defines
 * event_rows_extra. An example is tests/unit (test_toy_event.c).
 */
extern const struct event_rows event_rows_extra __attribute__((weak));

/*
 * The types of all counter events: [0] has the value of a counter, [1] has the change of a counter.
 * The index is the event's id modulo 2.
 */
extern const struct event_kind event_kinds_counter[2];

/*
 * If events of @kind tell by how much a counter has changed, returns the counter's name, and sets
 * *@index to the counter's place among the recording's counters. Otherwise returns NULL.
 */
const char *event_kind_counter(const struct event_kind *kind, size_t *index);

/*
 * Read a counter's value from @records (event.data). A large value takes more than one record
 * (utils/format/counter_record.h). Returns false if one of these records is missing.
 */
bool event_counter_value(const uint8_t *records, size_t len, bool big, uint64_t *out);

/* All tables of rows. */
#define EVENT_ROWS                                                                       \
	&event_rows_builtin, &event_rows_linux, &event_rows_proc, &event_rows_proc_acts, \
		&event_rows_limit, &event_rows_extern, &event_rows_extra

/* Returns the event id for a record of perf-cpu*.dat, or 0 if the record is not shown. */
enum event_id event_id_of_perf(enum perf_record_type type);

/*
 * Returns the type of the event @id: for a counter an element of event_kinds_counter, else the row
 * of @id in EVENT_ROWS. If EVENT_ROWS has no such row, returns the nameless row of the range that
 * contains @id. Never returns NULL.
 */
const struct event_kind *event_kind_fixed(uint64_t id);

/* True for a tracepoint, with or without a name. */
static inline bool event_id_is_of_kernel(uint64_t id)
{
	return event_kind_fixed(id)->origin == EVENT_OF_KERNEL;
}

/* Get a field of the event. Returns false if the event does not have it. */
bool event_kind_get(const struct event_kind *kind, const struct event_context *context,
		    size_t index, struct event_value *out);

/* Get a field from the payload, at the field's offset, without a call to kind->get(). */
bool event_payload_get(const struct event_kind *kind, const struct event_context *context,
		       size_t index, struct event_value *out);

/* Write all data of the event in one line. Nothing is written for an event without data. */
void event_kind_put(const struct event_kind *kind, const struct event_context *context,
		    struct strbuf *out);

/*
 * Write the name of event @id: "provider:event". If the event has no name, write the name of
 * @kind, a colon and @id, for example "user_event:1000007".
 */
void event_kind_put_name(const struct event_kind *kind, uint64_t id, struct strbuf *out);

#endif
