/* Arguments and return values of a call as numbers and texts (see values.h). */
#include "utils/script/values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/format/bytes.h"
#include "utils/view/values/argvalues.h"

void script_values_deinit(struct script_values *values)
{
	free(values->values);
	strbuf_deinit(&values->made);
	*values = (struct script_values){ 0 };
}

/*
 * Load an integer of unknown type. A register with a negative int may have zeros in its upper half.
 * Therefore values from 0xffff0001 to 0xffffffff count as negative. argtext.c has the same rule.
 */
static int64_t load_auto(const struct arg_value *value, bool big)
{
	int64_t v = arg_value_signed(value, big);

	return v > 0xffff0000LL && v <= 0xffffffffLL ? (int32_t)v : v;
}

/*
 * Load an enum. An enum usually has 32 bits. A register with a negative enum may have zeros in its
 * upper half. Values from 2^31 to 2^32 - 1 therefore count as negative.
 */
static int64_t load_enum(const struct arg_value *value, bool big)
{
	int64_t v = arg_value_signed(value, big);

	return v > INT32_MAX && v <= UINT32_MAX ? (int32_t)v : v;
}

/*
 * Returns the double for an x87 floating-point number. @head is the sign and the exponent, and
 * @fraction includes the bit before the binary point.
 */
static double make_double(uint16_t head, uint64_t fraction)
{
	int exponent = head & 0x7fff;
	double sign = head & 0x8000 ? -1 : 1;

	if (exponent == 0x7fff)
		return fraction << 1 ? NAN : sign * INFINITY;
	return sign * ldexp((double)fraction, exponent - 16383 - 63);
}

static double load_float(const struct arg_value *value, bool big)
{
	uint64_t bits = arg_value_unsigned(value, big);
	uint32_t bits32 = bits;
	double d = 0;
	float f;

	if (value->len == sizeof(f)) {
		memcpy(&f, &bits32, sizeof(f));
		return f;
	}
	if (value->len == sizeof(d))
		memcpy(&d, &bits, sizeof(d));
	else if (value->len == 10)
		d = make_double(get_u16(value->data + 8, false), get_u64(value->data, false));
	if (value->len != 16)
		return d;

	/* IEEE 754's format of 128 bits does not store the bit before the binary point. */
	uint64_t high = get_u64(value->data + 8, false);
	uint64_t low = get_u64(value->data, false);
	uint64_t leading = (high >> 48 & 0x7fff) ? 1ULL << 63 : 0;

	return make_double(high >> 48, leading | high << 16 >> 1 | low >> 49);
}

static void put_wide(struct script_value *out, const struct arg_value *value, bool is_signed)
{
	uint64_t low = get_u64(value->data, false);
	uint64_t high = get_u64(value->data + 8, false);
	bool is_negative = is_signed && high >> 63;

	if (is_negative) {
		low = -low;
		high = ~high + !low;
	}
	out->kind = SCRIPT_WIDE;
	out->text = out->digits;
	out->len = snprintf(out->digits, sizeof(out->digits), "%s0x%llx%016llx",
			    is_negative ? "-" : "", (unsigned long long)high,
			    (unsigned long long)low);
}

static void put_text(struct script_value *out, const char *text, size_t len)
{
	out->kind = SCRIPT_TEXT;
	out->text = text;
	out->len = len;
}

static void put_integer(struct script_value *out, const struct argspec *spec,
			const struct arg_value *value, bool big)
{
	out->kind = SCRIPT_SIGNED;
	if (value->len == 16)
		put_wide(out, value, spec->type.format == ARG_SIGNED);
	else if (spec->type.format == ARG_SIGNED)
		out->i = arg_value_signed(value, big);
	else if (spec->type.format == ARG_AUTO)
		out->i = load_auto(value, big);
	else if (spec->type.format == ARG_ENUM)
		out->i = load_enum(value, big);
	else {
		out->kind = SCRIPT_UNSIGNED;
		out->u = arg_value_unsigned(value, big);
	}
}

/*
 * Write the text of a struct. The text may still move in memory. The pointer @out->text stays NULL
 * until settle_texts() sets the pointer.
 */
static void put_struct(struct script_values *values, struct script_value *out,
		       const struct argspec *spec)
{
	size_t at = values->made.len;

	strbuf_addf(&values->made, "struct: %s{}", spec->name ? spec->name : "");
	put_text(out, NULL, values->made.len - at);
}

static void put_value(struct script_values *values, struct script_value *out,
		      const struct argspec *spec, const struct arg_value *value, bool big)
{
	const char *bytes = (const char *)value->data;

	switch (spec->type.format) {
	case ARG_STRING:
	case ARG_STD_STRING:
		if (arg_value_is_null(value))
			put_text(out, "NULL", strlen("NULL"));
		else
			put_text(out, bytes, value->len);
		break;
	case ARG_CHAR:
		put_text(out, bytes, value->len && *bytes ? 1 : 0);
		break;
	case ARG_FLOAT:
		out->kind = SCRIPT_FLOAT;
		out->f = load_float(value, big);
		break;
	case ARG_STRUCT:
		put_struct(values, out, spec);
		break;
	default:
		put_integer(out, spec, value, big);
		break;
	}
}

static struct script_value *next_room(struct script_values *values)
{
	struct script_value *more = vec_room(values->values, values->nr, &values->cap,
					     sizeof(*more));

	if (!more)
		return NULL;
	values->values = more;
	return &more[values->nr++];
}

/*
 * Set the pointers script_value.text of structs and of numbers of 128 bits. Call this when
 * values->made and values->values cannot move any more.
 */
static void settle_texts(struct script_values *values)
{
	const char *made = strbuf_str(&values->made);

	for (size_t i = 0; i < values->nr; i++) {
		struct script_value *value = &values->values[i];

		if (value->kind == SCRIPT_WIDE)
			value->text = value->digits;
		if (value->kind != SCRIPT_TEXT || value->text)
			continue;
		value->text = made;
		made += value->len;
	}
}

bool script_values_read(struct script_values *values, struct trace_data *data,
			const struct event *event)
{
	const struct argspec *spec;
	struct argvalues payload;
	struct arg_value value;

	if (!argvalues_begin(&payload, data, event))
		return false;
	values->nr = 0;
	strbuf_reset(&values->made);
	while ((spec = argvalues_next(&payload, &value)) != NULL) {
		struct script_value *room = next_room(values);

		if (!room)
			break;
		put_value(values, room, spec, &value, data->is_big_endian);
	}
	settle_texts(values);
	return true;
}
