/*
 * Finds the type of an event by the event's id, without a recording. Reads and writes the values of
 * events (see event_kind.h).
 */
#include "utils/pipeline/kinds/event_kind.h"

#include <string.h>

#include "utils/base/containers/words.h"
#include "utils/base/escape.h"
#include "utils/format/bytes.h"
#include "utils/format/event_ids.h"

/*
 * One row for each range of ids. The row is used for all ids of the range that have no row of their
 * own. The id of the row is the first id of the range.
 */
static const struct event_kind nameless[] = {
	{ EVENT_ID_KERNEL, "kernel_event", EVENT_OF_KERNEL, EVENT_KIND_NAMELESS },
	{ EVENT_ID_BUILTIN, "builtin_event", EVENT_OF_PROGRAM, EVENT_KIND_NAMELESS },
	{ EVENT_ID_USER, "user_event", EVENT_OF_PROGRAM, EVENT_KIND_NAMELESS | EVENT_KIND_BY_NAME },
};

static const struct event_kind *find_event_row(const struct event_rows *rows, uint64_t id)
{
	if (!rows->nr || id < rows->rows[0].id || id > rows->rows[rows->nr - 1].id)
		return NULL;
	for (size_t i = 0; i < rows->nr; i++) {
		if (rows->rows[i].id == id)
			return &rows->rows[i];
	}
	return NULL;
}

const struct event_kind *event_kind_fixed(uint64_t id)
{
	static const struct event_rows *const all[] = { EVENT_ROWS };
	size_t i = ARRAY_SIZE(nameless) - 1;

	if (event_id_is_counter(id))
		return &event_kinds_counter[id & 1];
	for (size_t k = 0; k < ARRAY_SIZE(all); k++) {
		const struct event_kind *kind = all[k] ? find_event_row(all[k], id) : NULL;

		if (kind)
			return kind;
	}
	while (id < nameless[i].id)
		i--;
	return &nameless[i];
}

bool event_payload_get(const struct event_kind *kind, const struct event_context *context,
		       size_t index, struct event_value *out)
{
	const struct event *event = context->event;
	const struct event_field *field = &kind->fields[index];
	size_t at = 0;

	for (size_t i = 0; i < index; i++)
		at += kind->fields[i].size;
	/* A number whose field has size 0 is not in the payload: kind->get() makes the number. */
	if (!event->data || at + field->size > event->data_len ||
	    (!field->size && field->type != FIELD_TEXT))
		return false;
	*out = (struct event_value){ .type = field->type };
	if (field->type == FIELD_TEXT) {
		const char *text = (const char *)event->data + at;
		size_t len = field->size ? strnlen(text, field->size) : event->data_len - at;

		out->text = text_of(text, len);
		return true;
	}
	out->number = get_uint(event->data + at, field->size, context->data->is_big_endian);
	if (field->type == FIELD_INT || field->type == FIELD_DIFF)
		out->number = extend_sign(out->number, field->size);
	return true;
}

bool event_kind_get(const struct event_kind *kind, const struct event_context *context,
		    size_t index, struct event_value *out)
{
	return (kind->get ? kind->get : event_payload_get)(kind, context, index, out);
}

/*
 * A format of values: the characters around a value, and the precision.
 *
 * @plus: before a difference
 * @percent: after a percentage
 * @base: before a hexadecimal number
 * @quote: around a text
 * @base_quote: around a hexadecimal number
 * @digits: number of digits after the decimal point
 */
static const struct form {
	const char *plus;
	const char *percent;
	const char *base;
	const char *quote;
	const char *base_quote;
	int digits;
} forms[] = {
	[VALUE_SHOWN] = { "+", "%", "0x", "\"", "", 2 },
	[VALUE_RAW] = { "", "%", "0x", "\"", "", 2 },
	[VALUE_BARE] = { "+", "%", "0x", "", "", 2 },
	[VALUE_LOGGED] = { "", "", "", "", "", 4 },
	[VALUE_JSON] = { "", "", "0x", "\"", "\"", 4 },
};

void event_value_put(const struct event_value *value, enum value_form how, struct strbuf *out)
{
	const struct form *form = &forms[how];
	unsigned long long number = value->number;

	switch (value->type) {
	case FIELD_DIFF:
		strbuf_addf(out, "%s%lld", (int64_t)number < 0 ? "" : form->plus,
			    (long long)number);
		break;
	case FIELD_INT:
		strbuf_addf(out, "%lld", (long long)number);
		break;
	case FIELD_HEX:
	case FIELD_ADDR:
		strbuf_addf(out, "%s%s%llx%s", form->base_quote, number ? form->base : "", number,
			    form->base_quote);
		break;
	case FIELD_RATIO:
	case FIELD_PERCENT:
		strbuf_addf(out, "%.*f%s", form->digits, value->ratio,
			    value->type == FIELD_PERCENT ? form->percent : "");
		break;
	case FIELD_TEXT:
		strbuf_addstr(out, form->quote);
		if (how == VALUE_JSON)
			escape_add(out, MEDIUM_JSON, value->text.at, text_left(&value->text));
		else
			strbuf_add(out, value->text.at, text_left(&value->text));
		strbuf_addstr(out, form->quote);
		break;
	case FIELD_UINT:
		strbuf_addf(out, "%llu", number);
		break;
	}
}

void event_word_put(const struct text *word, struct strbuf *out)
{
	char *copy cleanup_free = text_dup(word);

	if (copy)
		words_quote(copy, out);
}

void event_kind_put(const struct event_kind *kind, const struct event_context *context,
		    struct strbuf *out)
{
	bool is_first = true;

	if (kind->put) {
		kind->put(kind, context, out);
		return;
	}
	for (size_t i = 0; i < kind->nr_fields; i++) {
		const struct event_field *field = &kind->fields[i];
		struct event_value value;

		if (!event_kind_get(kind, context, i, &value))
			continue;
		strbuf_addf(out, "%s%s=", is_first ? "" : " ", field->name);
		event_value_put(&value, context->is_raw ? VALUE_RAW : VALUE_SHOWN, out);
		strbuf_addstr(out, field->unit ? field->unit : "");
		is_first = false;
	}
}

void event_kind_put_name(const struct event_kind *kind, uint64_t id, struct strbuf *out)
{
	strbuf_addstr(out, kind->name);
	if (kind->flags & EVENT_KIND_NAMELESS)
		strbuf_addf(out, ":%llu", (unsigned long long)id);
}
