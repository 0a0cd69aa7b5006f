/* Arrays that grow. */
#ifndef UTRAIL_BASE_VEC_H
#define UTRAIL_BASE_VEC_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Make room for one more element after the @nr elements of @size bytes in @array. Returns the
 * array, or NULL when memory is short, with @array unchanged.
 *
 * vec_grow() assumes that the array has room for @nr elements, rounded up to a power of two. So no
 * other function may resize the array.
 */
static inline void *vec_grow(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	return reallocarray(array, nr ? nr * 2 : 1, size);
}

/*
 * Does the work of vec_grow() for an array that may shrink (a stack), or that other functions
 * resize. *@cap is the number of elements for which the array has room. *@cap is initially 0.
 */
static inline void *vec_room(void *array, size_t nr, size_t *cap, size_t size)
{
	size_t more = *cap ? *cap * 2 : 16;

	if (nr < *cap)
		return array;
	array = reallocarray(array, more, size);
	if (array)
		*cap = more;
	return array;
}

/*
 * Extend a table of *@nr rows of @size bytes, so that @number has a row. New rows are zeros.
 * Returns the table, or NULL when memory is short, with @table unchanged.
 */
static inline void *vec_reach(void *table, size_t *nr, size_t number, size_t size)
{
	size_t more = number < *nr * 2 ? *nr * 2 : number + 1;

	if (number < *nr)
		return table;
	if (number == SIZE_MAX)
		return NULL;
	table = reallocarray(table, more, size);
	if (table) {
		memset((char *)table + *nr * size, 0, (more - *nr) * size);
		*nr = more;
	}
	return table;
}

#endif
