/* Orders of plain numbers, for qsort(3) and bsearch(3). */
#ifndef UTRAIL_BASE_ORDER_H
#define UTRAIL_BASE_ORDER_H

#include <stdint.h>

static inline int order_i32(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a;
	int32_t y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static inline int order_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

#endif
