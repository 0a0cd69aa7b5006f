/* Arrays that grow. */
#ifndef UTRAIL_BASE_VEC_H
#define UTRAIL_BASE_VEC_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Make room for one more after @nr elements of @size bytes in @array, which has only ever grown by
 * this. The room doubles whenever @nr is a power of two, so it need not be stored. Returns the
 * array; or NULL when memory is short, and @array is as it was.
 */
static inline void *vec_grow(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	return reallocarray(array, nr ? nr * 2 : 1, size);
}

/*
 * The same for an array that also shrinks (a stack), or grows in other ways: it has room for *@cap
 * elements, initially 0. Allocates only when it is full.
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
 * Extend a table of rows of @size bytes, one for each number below *@nr, so that it has one for
 * @number. New rows are zeros. The table; or NULL when memory is short, and then it is unchanged.
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
