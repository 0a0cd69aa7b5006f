/* Static probes with arguments (see declared_probe.h). Definitions and payloads are untrusted. */
#include "utils/pipeline/kinds/declared_probe.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/seam/reader.h"
#include "utils/format/event_data.h"
#include "utils/pipeline/kinds/declared_line.h"

/* --- types --- */

static const struct {
	const char *word;
	enum event_field_type type;
	uint8_t float_bytes;
} types[] = {
	{ "?", FIELD_TEXT, 0 },
	{ "-1", FIELD_INT, 0 },
	{ "-2", FIELD_INT, 0 },
	{ "-4", FIELD_INT, 0 },
	{ "-8", FIELD_INT, 0 },
	{ "1", FIELD_UINT, 0 },
	{ "2", FIELD_UINT, 0 },
	{ "4", FIELD_UINT, 0 },
	/* An argument of this type may be a pointer, so it is shown as a hexadecimal number. */
	{ "8", FIELD_HEX, 0 },
	{ "4f", FIELD_TEXT, 4 },
	{ "8f", FIELD_TEXT, 8 },
};

static int find_type(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strlen(types[i].word) == len && memcmp(types[i].word, word, len) == 0)
			return i;
	}
	return -EINVAL;
}

static int add_field(struct declared_event *event, int type)
{
	char name[16];

	snprintf(name, sizeof(name), "arg%zu", event->nr_fields + 1);
	event->probe_types[event->nr_fields] = type;
	return declared_add_field(event, strdup(name), types[type].type);
}

int declared_probe_set_types(struct declared_event *event, char *words)
{
	size_t room = declared_line_words(words, EVENT_PROBE_ARGS_MAX);

	event->types = words;
	event->probe_types = calloc(room, sizeof(*event->probe_types));
	if (declared_make_room(event, room) < 0 || !event->probe_types)
		return -ENOMEM;
	for (const char *at = words;;) {
		size_t len = strcspn(at, " ");
		int ret = event->nr_fields < EVENT_PROBE_ARGS_MAX ? find_type(at, len) : -EINVAL;

		if (ret >= 0)
			ret = add_field(event, ret);
		if (ret < 0)
			return ret;
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

/* --- payloads --- */

/*
 * Find the value of an argument. Returns false if the value is missing, or if the payload is
 * invalid.
 */
static bool find_argument(const struct declared_event *event, const struct event *of, size_t index,
			  uint64_t *value)
{
	uint64_t is_there;

	if (!of->data || of->data_len < EVENT_PROBE_PAYLOAD_BYTES(event->nr_fields))
		return false;
	memcpy(&is_there, of->data, sizeof(is_there));
	memcpy(value, of->data + EVENT_PROBE_PAYLOAD_BYTES(index), sizeof(*value));
	*value = le64toh(*value);
	return le64toh(is_there) >> index & 1;
}

/*
 * Write a float or a double, which has @bytes bytes. The written digits distinguish the number from
 * all other numbers of its type.
 */
static void put_real(struct strbuf *out, uint64_t bits, unsigned bytes)
{
	bool is_float = bytes == sizeof(float);
	uint32_t low = bits;
	float as_float;
	double value;
	char digits[32];

	memcpy(&value, &bits, sizeof(value));
	memcpy(&as_float, &low, sizeof(as_float));
	if (is_float)
		value = as_float;
	for (int precision = is_float ? 6 : 15; precision <= (is_float ? 9 : 17); precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, value);
		if ((is_float ? strtof(digits, NULL) : strtod(digits, NULL)) == value)
			break;
	}
	strbuf_addstr(out, digits);
}

bool declared_probe_get(const struct event_kind *kind, const struct event_context *context,
			size_t index, struct event_value *out)
{
	struct declared_event *event = kind->declared;
	uint8_t type = event->probe_types[index];
	uint64_t value;

	if (!find_argument(event, context->event, index, &value) ||
	    (types[type].type == FIELD_TEXT && !types[type].float_bytes))
		return false;
	*out = (struct event_value){ .type = types[type].type };
	if (out->type == FIELD_TEXT) {
		strbuf_reset(&event->texts[index]);
		put_real(&event->texts[index], value, types[type].float_bytes);
		out->text = text_of(strbuf_str(&event->texts[index]), event->texts[index].len);
	} else {
		out->number = value;
	}
	return true;
}

/* Write the arguments, with '?' for missing values. Without a payload, nothing is written. */
void declared_probe_put(const struct event_kind *kind, const struct event_context *context,
			struct strbuf *out)
{
	const struct declared_event *event = kind->declared;

	if (!context->event->data)
		return;
	for (size_t i = 0; i < event->nr_fields; i++) {
		struct event_value value;

		strbuf_addf(out, "%s%s=", i ? " " : "", event->fields[i].name);
		if (declared_probe_get(kind, context, i, &value))
			event_value_put(&value, VALUE_BARE, out);
		else
			strbuf_addch(out, '?');
	}
}
