/*
 * Events that are known only from lines of a log (see declared_line.h). utils/format/event_data.h
 * defines the payload of these events.
 */
#include "utils/pipeline/kinds/declared_line.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/format/event_data.h"
#include "utils/format/fstrace/line.h"

/* True when @key is a valid word, and @event has no field with the name @key. */
static bool is_new_key(const struct declared_event *event, const char *key, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (!fst_is_key_char(key[i]))
			return false;
	}
	for (size_t i = 0; i < event->nr_fields; i++) {
		const char *name = event->fields[i].name;

		if (strncmp(name, key, len) == 0 && !name[len])
			return false;
	}
	return len;
}

size_t declared_line_words(const char *text, size_t max)
{
	size_t nr = 1;

	for (; *text && nr < max; text++)
		nr += *text == ' ';
	return nr;
}

int declared_line_set_keys(struct declared_event *event, const char *keys)
{
	int ret = declared_make_room(event, declared_line_words(keys, EVENT_LINE_KEYS_MAX));

	while (ret == 0 && *keys && event->nr_fields < EVENT_LINE_KEYS_MAX) {
		size_t len = strcspn(keys, " ");

		if (is_new_key(event, keys, len))
			ret = declared_add_field(event, strndup(keys, len), FIELD_TEXT);
		keys += len + (keys[len] == ' ');
	}
	return ret;
}

static struct text body_of(const struct event_context *context)
{
	const char *data = (const char *)context->event->data;
	size_t len = context->event->data_len;

	if (!data || len < EVENT_LINE_TIME_BYTES)
		return text_of("", 0);
	return text_of(data + EVENT_LINE_TIME_BYTES, len - EVENT_LINE_TIME_BYTES);
}

/*
 * Get a field. If the field's name is KEY, the first word that begins with "KEY=" has the field's
 * value after the "=".
 */
bool declared_line_get(const struct event_kind *kind, const struct event_context *context,
		       size_t index, struct event_value *out)
{
	const char *key = kind->fields[index].name;
	struct text left = body_of(context);
	size_t key_len = strlen(key);

	while (left.at < left.end) {
		const char *end = memchr(left.at, ' ', text_left(&left));

		end = end ? end : left.end;
		if ((size_t)(end - left.at) > key_len && left.at[key_len] == '=' &&
		    memcmp(left.at, key, key_len) == 0) {
			out->type = FIELD_TEXT;
			out->text = text_of(left.at + key_len + 1, end - left.at - key_len - 1);
			return true;
		}
		left.at = end < left.end ? end + 1 : end;
	}
	return false;
}

void declared_line_put(const struct event_kind *kind, const struct event_context *context,
		       struct strbuf *out)
{
	struct text body = body_of(context);

	strbuf_add(out, body.at, text_left(&body));
}

bool declared_line_time(const struct declared_event *event, const void *data, size_t len,
			int64_t *time_us)
{
	uint64_t us;

	if (!event->is_line || !data || len < sizeof(us))
		return false;
	memcpy(&us, data, sizeof(us));
	*time_us = le64toh(us);
	return true;
}
