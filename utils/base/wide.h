/* Numbers of 128 bits, for sums of squares. The machine need not have a type of this size. */
#ifndef UTRAIL_BASE_WIDE_H
#define UTRAIL_BASE_WIDE_H

#include <stdint.h>

struct wide {
	uint64_t low;
	uint64_t high;
};

static inline void wide_add(struct wide *to, struct wide from)
{
	to->low += from.low;
	to->high += from.high + (to->low < from.low);
}

static inline struct wide wide_square(uint64_t value)
{
#ifdef __SIZEOF_INT128__
	unsigned __int128 product = (unsigned __int128)value * value;

	return (struct wide){ product, product >> 64 };
#else
	uint64_t low = value & UINT32_MAX;
	uint64_t high = value >> 32;
	struct wide product = { low * low, high * high };
	/* The square is low^2 + low * high * 2^33 + high^2 * 2^64. */
	uint64_t middle = low * high;

	wide_add(&product, (struct wide){ middle << 33, middle >> 31 });
	return product;
#endif
}

static inline double wide_to_double(struct wide value)
{
	return (double)value.high * 0x1p64 + (double)value.low;
}

#endif
