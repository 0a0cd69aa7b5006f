/* Arguments and return values of a call as numbers and texts, for programs and not for people. */
#ifndef UTRAIL_SCRIPT_VALUES_H
#define UTRAIL_SCRIPT_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/event.h"

enum script_value_kind {
	SCRIPT_SIGNED,
	SCRIPT_UNSIGNED,
	SCRIPT_WIDE, /* 128 bits: @text is its digits with "0x", perhaps a sign */
	SCRIPT_FLOAT,
	SCRIPT_TEXT,
};

/* @text, @len: bytes in the event's payload, in @digits, or in @made of script_values */
struct script_value {
	enum script_value_kind kind;
	union {
		int64_t i;
		uint64_t u;
		double f;
		struct {
			const char *text;
			size_t len;
		};
	};
	char digits[40];
};

/*
 * Starts as { 0 }, ends with script_values_deinit(). @made: texts of structs, which the payload
 * does not have
 */
struct script_values {
	struct script_value *values;
	size_t nr;
	size_t cap;
	struct strbuf made;
};

void script_values_deinit(struct script_values *values);

/*
 * Read the values in the payload of an ENTRY or EXIT. They are valid until the next call and no
 * longer than the event. False when the event has no payload, or its content is unknown.
 */
bool script_values_read(struct script_values *values, struct trace_data *data,
			const struct event *event);

#endif
