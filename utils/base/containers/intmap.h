/* A map from numbers to pointers, for tables without a maximum length. */
#ifndef UTRAIL_BASE_INTMAP_H
#define UTRAIL_BASE_INTMAP_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/cleanup.h"

/*
 * A hash table with open addressing. At most half of the slots are in use. The map does not own its
 * values. A map starts as { 0 }, and ends with intmap_deinit().
 */
struct intmap {
	struct intmap_slot {
		uint64_t key;
		void *value; /* NULL: free */
	} * slots;
	size_t nr_slots; /* a power of two, or 0 */
	size_t nr;
	uint64_t seed; /* set when the first slots are allocated */
};

void intmap_deinit(struct intmap *map);
#define cleanup_intmap cleanup(intmap_deinit)

/* Returns the value of @key, or NULL when the map does not have this key. */
void *intmap_get(const struct intmap *map, uint64_t key);

/* Set the value of @key; @value is not NULL. Returns 0 or -ENOMEM. */
int intmap_put(struct intmap *map, uint64_t key, void *value);

#endif
