/* Types of events: lines of extern.dat (see src_extern.h). */
#include "utils/format/event_ids.h"
#include "utils/trace/event_kind.h"

static const struct event_field line[] = {
	{ "message", FIELD_TEXT },
};

/* As it is: the line is the text. */
static void put_line(const struct event_kind *kind, const struct event_context *context,
		     struct strbuf *out)
{
	struct event_value value;

	if (event_payload_get(kind, context, 0, &value))
		strbuf_add(out, value.text.at, text_left(&value.text));
}

static const struct event_kind rows[] = {
	{ EVENT_ID_EXTERN_DATA, "external-data", EVENT_FIELDS(line), .put = put_line },
};

const struct event_rows event_rows_extern = { rows, ARRAY_SIZE(rows) };
