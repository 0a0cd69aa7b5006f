/* A map from strings to pointers, for tables whose length depends on the contents of a file. */
#ifndef UTRAIL_BASE_STRMAP_H
#define UTRAIL_BASE_STRMAP_H

#include <stddef.h>
#include <stdint.h>

#include "utils/base/cleanup.h"

/*
 * Open addressing, at most half full. The map owns neither keys nor values. Starts as { 0 } and
 * ends with strmap_deinit().
 */
struct strmap {
	struct strmap_slot {
		const char *key; /* NULL: free */
		void *value;
	} * slots;
	size_t nr_slots; /* a power of two, or 0 */
	size_t nr;
	uint64_t seed; /* set when the first slots are allocated */
};

void strmap_deinit(struct strmap *map);
#define cleanup_strmap cleanup(strmap_deinit)

/* Returns the value of @key, or NULL when the map does not have this key. */
void *strmap_get(const struct strmap *map, const char *key);

/* Set the value of @key. The key must live as long as the map. Returns 0 or -ENOMEM. */
int strmap_put(struct strmap *map, const char *key, void *value);

#endif
