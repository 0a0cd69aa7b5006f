/* The fields that event kinds make of payloads. */
#ifndef UTRAIL_TESTS_KINDS_H
#define UTRAIL_TESTS_KINDS_H

#include "tests/unit/lib/unit.h"
#include "utils/pipeline/kinds/event_kind.h"

/*
 * Write "NAME:TYPE=VALUE ..." for the event's fields. Types: u(int) d(iff) i(nt) x(hex) a(ddr)
 * r(atio) p(ercent) t(ext).
 */
static inline void kind_put_fields(const struct event_kind *kind,
				   const struct event_context *context, struct strbuf *out)
{
	for (size_t i = 0; i < kind->nr_fields; i++) {
		struct event_value value = { 0 };

		if (!event_kind_get(kind, context, i, &value))
			continue;
		strbuf_addf(out, "%s%s:%c=", out->len ? " " : "", kind->fields[i].name,
			    "udixarpt"[value.type]);
		if (value.type == FIELD_RATIO || value.type == FIELD_PERCENT)
			strbuf_addf(out, "%.3f", value.ratio);
		else if (value.type == FIELD_TEXT)
			strbuf_addf(out, "%.*s", (int)text_left(&value.text), value.text.at);
		else if (value.type == FIELD_INT)
			strbuf_addf(out, "%lld", (long long)value.number);
		else
			strbuf_addf(out, "%#llx", (unsigned long long)value.number);
	}
}

/* Check the text and the fields of the event in @context. */
static inline void kind_check(const struct event_context *context, const char *text,
			      const char *fields)
{
	const struct event_kind *kind = event_kind_fixed(context->event->id);
	struct strbuf out cleanup_strbuf = { 0 };

	event_kind_put(kind, context, &out);
	assert_string_equal(strbuf_str(&out), text);
	strbuf_reset(&out);
	kind_put_fields(kind, context, &out);
	assert_string_equal(strbuf_str(&out), fields);
}

/* Check the fields of an event with that payload, in a recording of 64 bits. */
static inline void kind_check_data(uint64_t id, const void *data, size_t len, bool big,
				   const char *text, const char *fields)
{
	const struct trace_data trace = { .header.elf_class = HEADER_CLASS_64,
					  .is_big_endian = big };
	void *copy = data ? exact_copy(data, len) : NULL;
	const struct event event = {
		.id = id, .type = EVENT_POINT, .data = (const uint8_t *)copy, .data_len = len
	};
	const struct event_context context = { &trace, NULL, &event, false };

	kind_check(&context, text, fields);
	free(copy);
}

#endif
