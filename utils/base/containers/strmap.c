/* A map from strings to pointers (see strmap.h). */
#include "utils/base/containers/strmap.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "utils/base/containers/hash.h"

#define FIRST_SLOTS 16

void strmap_deinit(struct strmap *map)
{
	free(map->slots);
	*map = (struct strmap){ 0 };
}

/*
 * Find the slot of @key, or the free slot for it. The search ends, since at most half of the slots
 * are taken.
 */
static struct strmap_slot *find_string_slot(const struct strmap *map, const char *key)
{
	size_t at = hash_bytes(key, strlen(key), map->seed) & (map->nr_slots - 1);

	while (map->slots[at].key && strcmp(map->slots[at].key, key) != 0)
		at = (at + 1) & (map->nr_slots - 1);
	return &map->slots[at];
}

void *strmap_get(const struct strmap *map, const char *key)
{
	return map->nr_slots ? find_string_slot(map, key)->value : NULL;
}

static int grow_strmap(struct strmap *map)
{
	struct strmap larger = {
		.nr_slots = map->nr_slots ? map->nr_slots * 2 : FIRST_SLOTS,
		.seed = map->nr_slots ? map->seed : hash_seed(),
	};

	larger.slots = calloc(larger.nr_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	larger.nr = map->nr;
	for (size_t i = 0; i < map->nr_slots; i++) {
		if (map->slots[i].key)
			*find_string_slot(&larger, map->slots[i].key) = map->slots[i];
	}
	free(map->slots);
	*map = larger;
	return 0;
}

int strmap_put(struct strmap *map, const char *key, void *value)
{
	if (map->nr * 2 >= map->nr_slots && grow_strmap(map) < 0)
		return -ENOMEM;

	struct strmap_slot *slot = find_string_slot(map, key);

	if (!slot->key) {
		slot->key = key;
		map->nr++;
	}
	slot->value = value;
	return 0;
}
