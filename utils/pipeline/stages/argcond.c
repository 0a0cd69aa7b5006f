/* Conditions on arguments and return values (see argcond.h). */
#include "utils/pipeline/stages/argcond.h"

#include <string.h>

#include "utils/format/bytes.h"
#include "utils/format/callables.h"

/* Load a floating-point number of 4, 8 or 10 bytes. */
static double load_real(const struct arg_value *value, bool is_big)
{
	uint64_t bits = get_uint(value->data, value->len, is_big);
	uint32_t low = bits;
	float single;
	double real;

	if (value->len == sizeof(single)) {
		memcpy(&single, &low, sizeof(single));
		return single;
	}
	if (value->len == 10) {
		/*
		 * A mantissa of 64 bits, which includes its leading 1 bit, comes before the
		 * exponent and the sign (Intel SDM volume 1, 4.2.2).
		 */
		int exponent = (value->data[8] | (value->data[9] & 0x7f) << 8) - 16383 - 63;
		double magnitude = __builtin_ldexp((double)bits, exponent);

		return value->data[9] & 0x80 ? -magnitude : magnitude;
	}
	memcpy(&real, &bits, sizeof(real));
	return real;
}

/*
 * True when @term is about the value of @spec.
 * @place: the position of @spec among the specs with the same spec->kind, from 1. For a value on
 *         the stack, term->index is compared with @place, and not with spec->index
 */
static bool is_meant(const struct argspec *spec, const struct cond_term *term, unsigned place)
{
	unsigned index = spec->place == ARG_ON_STACK ? place : spec->index;

	switch (term->subject) {
	case COND_RETVAL:
		return spec->kind == ARG_KIND_RETVAL;
	case COND_FPARG:
		return spec->kind == ARG_KIND_FLOAT && index == term->index;
	case COND_ARG:
		break;
	}
	return spec->kind != ARG_KIND_RETVAL && index == term->index &&
	       (spec->how == ARG_HOW_TEXT ||
		(spec->kind == ARG_KIND_FLOAT) == (term->type == COND_FLOAT));
}

/*
 * Parse a number as Python writes it: 1.5, 1e-07, -inf, nan. Returns false if the text is not a
 * number.
 */
static bool read_text_real(const struct arg_value *value, double *real)
{
	char copy[32];
	char *end;

	if (!value->len || value->len >= sizeof(copy))
		return false;
	memcpy(copy, value->data, value->len);
	copy[value->len] = '\0';
	/*
	 * Refuse texts that strtod(3) accepts but Python never writes, and integers of more than 64
	 * bits.
	 */
	if (strspn(copy, "0123456789+-.einfa") != value->len || !strpbrk(copy, ".en"))
		return false;
	*real = strtod(copy, &end);
	return !*end;
}

/*
 * True when the operator of @term holds for the result @order of a comparison. @order is below,
 * equal to or above 0.
 */
static bool order_holds(const struct cond_term *term, int order)
{
	const struct cond_term about_0 = {
		.type = COND_INT, .bytes = 8, .is_signed = true, .op = term->op
	};

	return cond_term_holds(&about_0, &(struct cond_value){ .type = COND_INT, .number = order });
}

/* Compare @integer with @real. @is_limit: @integer is from the condition, and @real is the value */
static bool judge_mixed(const struct cond_term *term, int64_t integer, double real, bool is_limit)
{
	uint64_t bits;
	int order;

	if (real != real)
		return term->op == COND_NE;
	memcpy(&bits, &real, sizeof(bits));
	order = callable_compare(integer, bits);
	return order_holds(term, is_limit ? -order : order);
}

/*
 * Judge a term on a value of Python. The term never holds for a value that is not a number, not
 * even with "!=".
 */
static bool judge_text_number(const struct cond_term *term, const struct arg_value *value)
{
	struct cond_value v = { .type = term->type };
	int64_t number;
	double real;

	if (callable_text_number((const char *)value->data, value->len, &number)) {
		if (term->type == COND_FLOAT)
			return judge_mixed(term, number, term->real, false);
		v.number = number;
		return cond_term_holds(term, &v);
	}
	if (!read_text_real(value, &real))
		return false;
	if (term->type == COND_FLOAT) {
		v.real = real;
		return cond_term_holds(term, &v);
	}
	return (!term->bytes || term->bytes == 8) && term->is_signed && term->op != COND_AND &&
	       judge_mixed(term, term->number, real, true);
}

static bool judge_value(const struct cond_term *term, const struct argspec *spec,
			const struct arg_value *value, bool is_big)
{
	struct cond_value v = { .type = term->type };

	if (spec->how == ARG_HOW_TEXT && term->type != COND_STRING)
		return judge_text_number(term, value);
	if (arg_format_is_string(spec->type.format) != (term->type == COND_STRING))
		return false;
	if (term->type == COND_STRING) {
		v.text = (const char *)value->data;
		v.text_len = value->len;
		/* A NULL pointer has no string to compare with. */
		if (arg_value_is_null(value))
			return term->op == COND_NE;
	} else if ((spec->type.format == ARG_FLOAT) != (term->type == COND_FLOAT)) {
		return false;
	} else if (term->type == COND_FLOAT) {
		v.real = load_real(value, is_big);
	} else {
		v.number = get_uint(value->data, value->len, is_big);
		/* If fewer bytes were recorded than the term compares, extend the value's sign. */
		if (value->len < term->bytes && term->is_signed && value->len)
			v.number = extend_sign(v.number, value->len);
	}
	return cond_term_holds(term, &v);
}

static bool term_holds(struct trace_data *data, const struct cond_term *term,
		       const struct event *event, const struct argspecs *specs)
{
	size_t nr = event->type == EVENT_ENTRY ? specs->nr : MIN(specs->nr, (size_t)1);
	unsigned places[ARG_KIND_RETVAL + 1] = { 0 };
	ssize_t at = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct argspec *spec = &specs->specs[i];
		struct arg_value value;

		at = argblob_next(event->data, event->data_len, at, spec->type, data->is_big_endian,
				  &value);
		if (at < 0)
			return false;
		if (is_meant(spec, term, ++places[spec->kind]))
			return judge_value(term, spec, &value, data->is_big_endian);
	}
	return false;
}

uint64_t argcond_look(struct trace_data *data, const struct cond *cond, const struct event *event)
{
	const struct func_args *known = NULL;
	bool is_exit = event->type == EVENT_EXIT;
	uint64_t bits = 0;

	if (event->data && event->func)
		known = arg_book_find(&data->args, event->func);
	for (size_t i = 0; known && i < MIN(cond->nr, (size_t)ARGCOND_TERMS_MAX); i++) {
		const struct cond_term *term = &cond->terms[i];

		if ((term->subject == COND_RETVAL) == is_exit &&
		    term_holds(data, term, event, is_exit ? &known->retval : &known->args))
			bits |= 1ULL << i;
	}
	return bits;
}

bool argcond_holds(const struct cond *cond, uint64_t bits)
{
	bool good = true;

	for (size_t i = 0; i < cond->nr; i++) {
		if (cond->terms[i].starts_alternative) {
			if (good)
				return true;
			good = true;
		}
		good = good && i < ARGCOND_TERMS_MAX && (bits >> i & 1);
	}
	return good;
}

bool argcond_needs_retval(const struct cond *cond)
{
	for (size_t i = 0; i < cond->nr; i++) {
		if (cond->terms[i].subject == COND_RETVAL)
			return true;
	}
	return false;
}
