/* Arguments and return values of a call as numbers and texts for scripts. */
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
	SCRIPT_WIDE, /* 128 bits: @text is a hexadecimal number that begins with "0x" or "-0x" */
	SCRIPT_FLOAT,
	SCRIPT_TEXT,
};

/*
 * @text, @len: bytes in the event's payload, in @digits, or in script_values.made. For a null
 *         pointer, @text is the string literal "NULL"
 */
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
 * Starts as { 0 } and ends with script_values_deinit().
 *
 * @made: the texts "struct: NAME{}", which scripts get instead of structs
 */
struct script_values {
	struct script_value *values;
	size_t nr;
	size_t cap;
	struct strbuf made;
};

void script_values_deinit(struct script_values *values);

/*
 * Read the values of an ENTRY or EXIT. Returns false when the event has no payload, or when the
 * types of the values are unknown. The values are valid until the event becomes invalid, or until
 * this function is called again.
 */
bool script_values_read(struct script_values *values, struct trace_data *data,
			const struct event *event);

#endif
