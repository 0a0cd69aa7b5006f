/*
 * Types of events that have the value of a counter (`read=`, see counters.h). events.txt has the
 * names of the counters.
 */
#include <string.h>

#include "utils/format/bytes.h"
#include "utils/format/counter_record.h"
#include "utils/format/event_ids.h"
#include "utils/spec/counters.h"
#include "utils/pipeline/kinds/event_kind.h"

static const struct event_field value[] = {
	{ "value", FIELD_UINT },
};
static const struct event_field difference[] = {
	{ "value", FIELD_DIFF },
};

bool event_counter_value(const uint8_t *records, size_t len, bool big, uint64_t *out)
{
	size_t nr = len / sizeof(struct record);
	bool has_more = true;
	uint64_t sum = 0;

	for (size_t i = 0; has_more && i < nr && i < COUNTER_PIECES_MAX; i++) {
		uint64_t word = get_u64(
			records + i * sizeof(struct record) + offsetof(struct record, data), big);

		sum |= counter_piece_value(word, i);
		has_more = counter_piece_has_more(word);
	}
	*out = sum;
	return !has_more;
}

const char *event_kind_counter(const struct event_kind *kind, size_t *index)
{
	static const char provider[] = "diff:";
	size_t place = (kind->id - EVENT_ID_COUNTER) / 2;

	if (!event_id_is_counter_diff(kind->id) || place >= COUNTERS_MAX)
		return NULL;
	*index = place;
	return kind->name + (strncmp(kind->name, provider, sizeof(provider) - 1) == 0
				     ? sizeof(provider) - 1
				     : 0);
}

static bool get_value(const struct event_kind *kind, const struct event_context *context,
		      size_t index, struct event_value *out)
{
	const struct event *event = context->event;

	*out = (struct event_value){ .type = kind->fields[index].type };
	return event->data && event_counter_value(event->data, event->data_len,
						  context->data->is_big_endian, &out->number);
}

#define ROW(id, fields)                                                                       \
	{                                                                                     \
		id, "counter", EVENT_OF_PROGRAM, EVENT_KIND_NAMELESS | EVENT_KIND_OF_TRIGGER, \
			EVENT_FIELDS(fields), .get = get_value                                \
	}

const struct event_kind event_kinds_counter[2] = {
	ROW(EVENT_ID_COUNTER, value),
	ROW(EVENT_ID_COUNTER + 1, difference),
};
