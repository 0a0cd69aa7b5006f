/*
 * Comparisons for qsort(3) and bsearch(3), and a binary search. The elements of the arrays are
 * numbers, or structs that begin with a number.
 */
#ifndef UTRAIL_BASE_ORDER_H
#define UTRAIL_BASE_ORDER_H

#include <stddef.h>
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

/*
 * Count the elements of @array that are not above @limit. The array has @nr elements of @size
 * bytes. Each begins with a uint64_t, by which the array is sorted.
 */
static inline size_t order_count_until(const void *array, size_t nr, size_t size, uint64_t limit)
{
	size_t low = 0;
	size_t high = nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (*(const uint64_t *)((const char *)array + mid * size) <= limit)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Count the elements below @limit. The result is the index of the first element that is not below
 * @limit.
 */
static inline size_t order_count_below(const void *array, size_t nr, size_t size, uint64_t limit)
{
	return limit ? order_count_until(array, nr, size, limit - 1) : 0;
}

#endif
