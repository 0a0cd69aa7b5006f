/* A map from numbers to pointers (see intmap.h). */
#include "utils/base/containers/intmap.h"

#include <errno.h>

#include "utils/base/containers/hash.h"

#define FIRST_SLOTS 16

void intmap_deinit(struct intmap *map)
{
	free(map->slots);
	*map = (struct intmap){ 0 };
}

/*
 * Find the slot of @key. If no slot has @key, find the free slot where @key can be inserted. The
 * search ends, since at most half of the slots are taken.
 */
static struct intmap_slot *find_number_slot(const struct intmap *map, uint64_t key)
{
	size_t at = hash_number(key, map->seed) & (map->nr_slots - 1);

	while (map->slots[at].value && map->slots[at].key != key)
		at = (at + 1) & (map->nr_slots - 1);
	return &map->slots[at];
}

void *intmap_get(const struct intmap *map, uint64_t key)
{
	return map->nr_slots ? find_number_slot(map, key)->value : NULL;
}

static int grow_intmap(struct intmap *map)
{
	struct intmap larger = {
		.nr_slots = map->nr_slots ? map->nr_slots * 2 : FIRST_SLOTS,
		.seed = map->nr_slots ? map->seed : hash_seed(),
	};

	larger.slots = calloc(larger.nr_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	larger.nr = map->nr;
	for (size_t i = 0; i < map->nr_slots; i++) {
		if (map->slots[i].value)
			*find_number_slot(&larger, map->slots[i].key) = map->slots[i];
	}
	free(map->slots);
	*map = larger;
	return 0;
}

int intmap_put(struct intmap *map, uint64_t key, void *value)
{
	if (map->nr * 2 >= map->nr_slots && grow_intmap(map) < 0)
		return -ENOMEM;

	struct intmap_slot *slot = find_number_slot(map, key);

	map->nr += !slot->value;
	*slot = (struct intmap_slot){ key, value };
	return 0;
}
