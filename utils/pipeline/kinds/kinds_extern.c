/* The type of the events that are lines of extern.dat (see src_extern.h). */
#include "utils/format/event_ids.h"
#include "utils/pipeline/kinds/event_kind.h"

static const struct event_field line[] = {
	{ "message", FIELD_TEXT },
};

/*
 * Get the text of a line of extern.dat. Returns false for a task's record that has the number
 * EVENT_ID_EXTERN_DATA, because such a record is no line of extern.dat.
 */
static bool get_line(const struct event_kind *kind, const struct event_context *context,
		     size_t index, struct event_value *out)
{
	return context->event->type == EVENT_EXTERN && event_payload_get(kind, context, index, out);
}

/* Write the line, unchanged. */
static void put_line(const struct event_kind *kind, const struct event_context *context,
		     struct strbuf *out)
{
	struct event_value value;

	if (get_line(kind, context, 0, &value))
		strbuf_add(out, value.text.at, text_left(&value.text));
}

static const struct event_kind rows[] = {
	{
		EVENT_ID_EXTERN_DATA,
		"external-data",
		EVENT_FIELDS(line),
		.get = get_line,
		.put = put_line,
	},
};

const struct event_rows event_rows_extern = { rows, ARRAY_SIZE(rows) };
