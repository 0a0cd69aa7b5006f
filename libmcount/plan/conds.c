/* Conditions of rules (see conds.h). */
#include "libmcount/plan/conds.h"

#include "libmcount/values/capture.h"
#include "libmcount/system/fault.h"
#include "utils/format/callables.h"
#include "utils/format/probe/automaton.h"

/*
 * The call whose arguments are compared.
 *
 * @behind: the end of the array of comparisons. The texts and automatons that the comparisons use
 *          begin there
 */
struct subject {
	const struct plan_cond *behind;
	const uint64_t *slot;
	const struct arch_regs *regs;
};

static inline bool holds_compare(uint8_t compare, int order)
{
	switch (compare) {
	case PLAN_EQ:
		return order == 0;
	case PLAN_NE:
		return order != 0;
	case PLAN_GT:
		return order > 0;
	case PLAN_GE:
		return order >= 0;
	case PLAN_LT:
		return order < 0;
	default:
		return order <= 0;
	}
}

/*
 * Returns word @index above the return address. The first word above it has index 1. Beyond the end
 * of the stack, the result is 0.
 */
static uint64_t stack_word(const struct subject *s, unsigned index)
{
	uint64_t word = 0;

	fault_copy(&word, s->slot + index, sizeof(word));
	return word;
}

static inline bool raw_holds(const struct plan_cond *cond, uint64_t raw)
{
	unsigned unused = 64 - 8 * cond->bytes;

	raw <<= unused;
	if (cond->is_signed) {
		int64_t value = (int64_t)raw >> unused;

		if (cond->compare == PLAN_AND)
			return (value & cond->value) != 0;
		return holds_compare(cond->compare, (value > cond->value) - (value < cond->value));
	}

	uint64_t value = raw >> unused;
	uint64_t limit = (uint64_t)cond->value;

	if (cond->compare == PLAN_AND)
		return (value & limit) != 0;
	return holds_compare(cond->compare, (value > limit) - (value < limit));
}

static inline bool int_holds(const struct plan_cond *cond, const struct subject *s)
{
	return raw_holds(cond, likely(cond->index <= ARCH_INT_ARG_REGS)
				       ? arch_int_arg(s->regs, s->slot, cond->index)
				       : stack_word(s, cond->index - ARCH_INT_ARG_REGS));
}

/* The layout of a double: IEEE 754 binary64. There is no floating point arithmetic in the probe. */
#define DOUBLE_SIGN	(1ULL << 63)
#define DOUBLE_INFINITY (0x7ffULL << 52)
#define DOUBLE_BIAS	1023

/* Converts a float to a double. The conversion is exact. */
static uint64_t widen_float(uint32_t bits)
{
	uint64_t sign = (uint64_t)(bits >> 31) << 63;
	uint64_t fraction = bits & 0x7fffff;
	int exponent = bits >> 23 & 0xff;

	if (exponent == 0xff)
		return sign | DOUBLE_INFINITY | fraction << 29;
	if (exponent == 0 && fraction == 0)
		return sign;
	if (exponent == 0) {
		/*
		 * The float is subnormal, but the double will be normal. Shift the fraction until
		 * bit 23, the first bit before the binary point, is 1. Clear bit 23, because a
		 * normal double does not store the 1 before the binary point.
		 */
		int shift = __builtin_clz((uint32_t)fraction) - 8;

		fraction = (fraction << shift) & 0x7fffff;
		exponent = 1 - shift;
	}
	return sign | (uint64_t)(exponent - 127 + DOUBLE_BIAS) << 52 | fraction << 29;
}

/*
 * Converts an x87 extended number to the nearest double, and NaN to NaN. A number that is too small
 * for a normal double becomes the smallest subnormal double with the same sign.
 */
static uint64_t narrow_extended(uint64_t mantissa, uint16_t head)
{
	uint64_t sign = (uint64_t)(head >> 15) << 63;
	int exponent = (head & 0x7fff) - 16383 + DOUBLE_BIAS;

	/* NaN has a 1 among the lower 63 bits of the mantissa. Infinity has only zeros there. */
	if ((head & 0x7fff) == 0x7fff && mantissa << 1)
		return sign | DOUBLE_INFINITY | 1;
	if (mantissa == 0)
		return sign;

	/*
	 * The mantissa has 64 bits. The mantissa of a double has 53 bits, 11 fewer. A double does
	 * not store the highest of its 53 bits.
	 */
	uint64_t kept = mantissa >> 11;
	uint64_t rest = mantissa & 0x7ff;

	kept += rest > 0x400 || (rest == 0x400 && (kept & 1));
	if (exponent >= 0x7ff)
		return sign | DOUBLE_INFINITY;
	if (exponent <= 0)
		return sign | 1;
	/* If rounding up leads to the next power of two, the carry goes into the exponent. */
	return sign | (((uint64_t)exponent << 52) + (kept - (1ULL << 52)));
}

static uint64_t load_float(const struct plan_cond *cond, const struct subject *s)
{
	uint64_t bits[2] = { 0 };

	if (cond->bytes > sizeof(uint64_t)) {
		/* Long doubles are on the stack and take two words each. */
		bits[0] = stack_word(s, 2 * (cond->index - 1) + 1);
		bits[1] = stack_word(s, 2 * (cond->index - 1) + 2);
		return narrow_extended(bits[0], bits[1]);
	}
	if (cond->index <= ARCH_FLOAT_ARG_REGS)
		arch_read_vector(bits, cond->index - 1);
	else
		bits[0] = stack_word(s, cond->index - ARCH_FLOAT_ARG_REGS);
	return cond->bytes == sizeof(uint32_t) ? widen_float(bits[0]) : bits[0];
}

/*
 * Converts the bits of a double to an integer. If neither of two doubles is NaN, their integers
 * compare as the doubles do. If the sign bit is 0, the bits already are this integer. If the sign
 * bit is 1, the integer is the negated value of the other bits.
 */
static int64_t order_of(uint64_t bits)
{
	return bits & DOUBLE_SIGN ? -(int64_t)(bits & ~DOUBLE_SIGN) : (int64_t)bits;
}

static bool double_holds(const struct plan_cond *cond, uint64_t bits)
{
	int64_t value = order_of(bits);
	int64_t limit = order_of(cond->value);

	/* NaN is neither less than, nor greater than, nor equal to any value. */
	if ((bits & ~DOUBLE_SIGN) > DOUBLE_INFINITY)
		return cond->compare == PLAN_NE;
	return holds_compare(cond->compare, (value > limit) - (value < limit));
}

static bool is_same(const uint8_t *a, const uint8_t *b, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}

static uint32_t length_to_nul(const uint8_t *text, uint32_t len)
{
	uint32_t at = 0;

	while (at < len && text[at])
		at++;
	return at;
}

static bool string_holds(const struct plan_cond *cond, const struct subject *s)
{
	uint8_t payload[CAPTURE_TEXT_ROOM];
	struct capture_step step = {
		.op = cond->string,
		.bytes = sizeof(uint16_t),
		.index = cond->index,
	};
	uint32_t len = capture_text(&step, s->regs, s->slot, payload);
	const uint8_t *text = payload + sizeof(uint16_t);
	const uint8_t *wanted = (const uint8_t *)s->behind + cond->value;

	/* A NULL pointer has no string to compare with. */
	if (len == ARGBLOB_NULL_LEN && is_same(text, (const uint8_t *)ARGBLOB_NULL, len))
		return cond->compare == PLAN_NE;
	if (cond->kind == PLAN_COND_AUTOMATON)
		return automaton_matches((const struct automaton *)wanted, text,
					 length_to_nul(text, len));
	if (len < cond->len || !is_same(text, wanted, cond->len))
		return cond->compare == PLAN_NE;
	if (cond->kind == PLAN_COND_PREFIX)
		return true;
	return (len == cond->len) == (cond->compare == PLAN_EQ);
}

/*
 * Compares @integer with the double whose bits are @bits, by the operator of @cond: for example,
 * true when @integer < double. With @is_limit, the operands are exchanged: double < @integer.
 */
static bool mixed_holds(const struct plan_cond *cond, int64_t integer, uint64_t bits, bool is_limit)
{
	int64_t order;

	if ((bits & ~DOUBLE_SIGN) > DOUBLE_INFINITY)
		return cond->compare == PLAN_NE;
	order = callable_compare(integer, bits);
	return holds_compare(cond->compare, is_limit ? -order : order);
}

/*
 * True when the double with the bits @bits meets @cond. If @cond is for an integer, the result is
 * false when that integer is unsigned, has less than 64 bits, or is to be compared by PLAN_AND.
 */
static bool real_holds(const struct plan_cond *cond, uint64_t bits)
{
	if (cond->kind == PLAN_COND_REAL)
		return double_holds(cond, bits);
	return cond->bytes == sizeof(uint64_t) && cond->is_signed && cond->compare != PLAN_AND &&
	       mixed_holds(cond, cond->value, bits, true);
}

/*
 * True when a Python value is a number that meets @cond. If the value is a float, struct
 * capture_text contains the float's bits (@real). For other values, callable_text_number() reads
 * the number from the value's text. If the text is not a number, the result is false.
 */
static bool number_holds(const struct plan_cond *cond, const struct subject *s)
{
	const struct capture_step step = { .op = CAPTURE_TEXT, .index = cond->index };
	const struct capture_text *texts = (const struct capture_text *)arch_int_arg(s->regs,
										     s->slot, 1);
	uint8_t payload[CAPTURE_TEXT_ROOM];
	uint32_t len;
	int64_t number;

	if (texts[cond->index].is_real)
		return real_holds(cond, texts[cond->index].real);
	len = capture_text(&step, s->regs, s->slot, payload);
	if (!callable_text_number((const char *)payload + sizeof(uint16_t), len, &number))
		return false;
	return cond->kind == PLAN_COND_REAL ? mixed_holds(cond, number, cond->value, false)
					    : raw_holds(cond, number);
}

static inline bool one_holds(const struct plan_cond *cond, const struct subject *s)
{
	switch (cond->kind) {
	case PLAN_COND_INT:
		return int_holds(cond, s);
	case PLAN_COND_FLOAT:
		return double_holds(cond, load_float(cond, s));
	case PLAN_COND_NUMBER:
	case PLAN_COND_REAL:
		return number_holds(cond, s);
	default:
		return string_holds(cond, s);
	}
}

bool conds_hold(const struct plan_cond *conds, uint32_t nr, const uint64_t *slot,
		const struct arch_regs *regs)
{
	struct subject s = { conds + nr, slot, regs };
	bool good = true;

	if (!regs)
		return false;
	for (uint32_t i = 0; i < nr; i++) {
		if (conds[i].starts_alternative) {
			if (good)
				return true;
			good = true;
		}
		good = good && one_holds(&conds[i], &s);
	}
	return good;
}

static bool reads_memory(const struct plan_cond *cond)
{
	switch (cond->kind) {
	case PLAN_COND_INT:
		return cond->index > ARCH_INT_ARG_REGS;
	case PLAN_COND_FLOAT:
		return cond->bytes > sizeof(uint64_t) || cond->index > ARCH_FLOAT_ARG_REGS;
	case PLAN_COND_NUMBER:
	case PLAN_COND_REAL:
		return false;
	default:
		return cond->string != CAPTURE_TEXT;
	}
}

bool conds_read_memory(const struct plan_rule *rules, uint32_t nr, const struct plan_cond *conds)
{
	for (uint32_t i = 0; i < nr; i++) {
		for (uint32_t k = 0; k < rules[i].nr_conds; k++) {
			if (reads_memory(&conds[rules[i].cond + k]))
				return true;
		}
	}
	return false;
}
