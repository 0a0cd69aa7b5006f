/* Makes text of x87's 80-bit numbers by integer arithmetic (see extended.h). */
#include "utils/view/extended.h"

#include <stdbool.h>

#include "utils/base/compiler.h"

#define SIGN	      0x8000
#define EXPONENT      0x7fff
#define EXPONENT_BIAS (16383 + 63) /* plus 63, because the fraction is read as an integer */
#define DECIMALS      6
#define MILLION	      1000000U
#define LIMB	      1000000000U
#define LIMB_DIGITS   9
/* 2^16384 has 4933 digits. */
#define NR_LIMBS      ((4933 + DECIMALS) / LIMB_DIGITS + 2)

/*
 * An integer of up to NR_LIMBS * LIMB_DIGITS digits. @limb[0] has the last nine digits, @limb[1]
 * has the nine digits before them, and so on.
 */
struct decimal {
	uint32_t limb[NR_LIMBS];
	unsigned nr;
};

static void multiply_add(struct decimal *d, uint32_t by, uint32_t more)
{
	uint64_t carry = more;

	for (unsigned i = 0; i < d->nr; i++) {
		carry += (uint64_t)d->limb[i] * by;
		d->limb[i] = carry % LIMB;
		carry /= LIMB;
	}
	for (; carry && d->nr < NR_LIMBS; carry /= LIMB)
		d->limb[d->nr++] = carry % LIMB;
}

/* Multiply @fraction by a million. Store the product in @words, with the lowest word at index 0. */
static void times_million(uint64_t fraction, uint32_t words[3])
{
	uint64_t low = (fraction & UINT32_MAX) * MILLION;
	uint64_t high = (fraction >> 32) * MILLION + (low >> 32);

	words[0] = low;
	words[1] = high;
	words[2] = high >> 32;
}

static bool bit_at(const uint32_t words[3], unsigned at)
{
	return at < 96 && words[at / 32] >> at % 32 & 1;
}

static bool has_bits_below(const uint32_t words[3], unsigned end)
{
	for (unsigned at = 0; at < MIN(end, 96U); at++) {
		if (bit_at(words, at))
			return true;
	}
	return false;
}

/* Store in @out the rounded result of @words >> @shift. Before the call, @out must be 0. */
static void shift_down(const uint32_t words[3], unsigned shift, struct decimal *out)
{
	bool is_odd = bit_at(words, shift);
	bool goes_up = shift && bit_at(words, shift - 1) &&
		       (is_odd || has_bits_below(words, shift - 1));

	for (unsigned at = 96; at-- > MIN(shift, 96U);)
		multiply_add(out, 2, bit_at(words, at));
	multiply_add(out, 1, goes_up);
}

/* Write the number with the decimal point before its last six digits. */
static void put_decimal(const struct decimal *d, struct strbuf *out)
{
	uint32_t last = d->nr ? d->limb[0] : 0;
	bool has_begun = false;

	for (unsigned i = d->nr; i-- > 1;) {
		strbuf_addf(out, has_begun ? "%09u" : "%u", d->limb[i]);
		has_begun = true;
	}
	strbuf_addf(out, has_begun ? "%03u.%06u" : "%u.%06u", last / MILLION, last % MILLION);
}

void put_extended(uint64_t fraction, uint16_t head, struct strbuf *out)
{
	/* The exponent of zero and of denormal numbers is 0, but counts as 1. */
	int shift = MAX(head & EXPONENT, 1) - EXPONENT_BIAS;
	struct decimal d = { .nr = 0 };
	uint32_t words[3];

	if (head & SIGN)
		strbuf_addch(out, '-');
	if ((head & EXPONENT) == EXPONENT) {
		strbuf_addstr(out, fraction << 1 ? "nan" : "inf");
		return;
	}
	times_million(fraction, words);
	shift_down(words, shift < 0 ? -shift : 0, &d);
	for (; shift > 0; shift -= MIN(shift, 29))
		multiply_add(&d, 1U << MIN(shift, 29), 0);
	put_decimal(&d, out);
}
