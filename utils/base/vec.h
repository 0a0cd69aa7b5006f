/* Arrays that grow one by one. */
#ifndef UTRAIL_BASE_VEC_H
#define UTRAIL_BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>

/*
 * Room for one more behind @nr elements of @size bytes in @array, which has only ever grown by this: the room doubles
 * whenever @nr is a power of two, so that nobody has to remember it. The array, or NULL when memory is
 * short, and then @array is as it was.
 */
static inline void *vec_grow(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	return reallocarray(array, nr ? nr * 2 : 1, size);
}

#endif
