/* Reads the values in the payload of an ENTRY or EXIT, and makes integers of them. */
#ifndef UTRAIL_VIEW_ARGVALUES_H
#define UTRAIL_VIEW_ARGVALUES_H

#include "utils/format/argblob.h"
#include "utils/pipeline/event.h"
#include "utils/pipeline/recording/args.h"

/*
 * The position in a payload. The next value has the type specs[@next].
 *
 * @nr: the expected number of values; a damaged payload may have fewer
 */
struct argvalues {
	const struct event *event;
	const struct argspec *specs;
	size_t nr;
	size_t next;
	size_t at;
	bool is_big_endian;
};

/*
 * Begin to read the values in the payload of @event. Returns false when @event has no payload, or
 * the types of the values are unknown.
 */
bool argvalues_begin(struct argvalues *values, struct trace_data *data, const struct event *event);

/* Read the next value. Returns its specification, or NULL when there is no more value. */
const struct argspec *argvalues_next(struct argvalues *values, struct arg_value *value);

/*
 * Return the value as an integer. arg_value_unsigned() extends the value with zeros, and
 * arg_value_signed() with the sign.
 */
uint64_t arg_value_unsigned(const struct arg_value *value, bool is_big_endian);
int64_t arg_value_signed(const struct arg_value *value, bool is_big_endian);

#endif
