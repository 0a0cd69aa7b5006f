/* A table of operations that have begun and not ended, such as open requests (see pending.h). */
#include "utils/view/replay/pending.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/hash.h"

#define FIRST_SLOTS 64

struct pending_entry {
	struct pending_entry *next;
	uint64_t time_ns;
	size_t len;
	uint32_t hash;
	unsigned char key[];
};

void pending_deinit(struct pending *pending)
{
	for (size_t i = 0; i < pending->nr_slots; i++) {
		while (pending->slots[i]) {
			struct pending_entry *entry = pending->slots[i];

			pending->slots[i] = entry->next;
			free(entry);
		}
	}
	free(pending->slots);
	*pending = (struct pending){ 0 };
}

/*
 * Returns the address of the pointer to the entry of @key. If @key has no entry, returns the
 * address of the NULL that a new entry replaces. The table must have slots.
 */
static struct pending_entry **find_pending(const struct pending *pending, const void *key,
					   size_t len, uint32_t hash)
{
	struct pending_entry **at = &pending->slots[hash & (pending->nr_slots - 1)];

	while (*at && ((*at)->hash != hash || (*at)->len != len || memcmp((*at)->key, key, len)))
		at = &(*at)->next;
	return at;
}

static int grow_pending(struct pending *pending)
{
	size_t nr = pending->nr_slots ? pending->nr_slots * 2 : FIRST_SLOTS;
	struct pending_entry **slots = calloc(nr, sizeof(struct pending_entry *));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < pending->nr_slots; i++) {
		while (pending->slots[i]) {
			struct pending_entry *entry = pending->slots[i];

			pending->slots[i] = entry->next;
			entry->next = slots[entry->hash & (nr - 1)];
			slots[entry->hash & (nr - 1)] = entry;
		}
	}
	free(pending->slots);
	if (!pending->nr_slots)
		pending->seed = hash_seed();
	pending->slots = slots;
	pending->nr_slots = nr;
	return 0;
}

int pending_begin(struct pending *pending, const void *key, size_t len, uint64_t time_ns)
{
	if (pending->nr == pending->nr_slots && grow_pending(pending) < 0)
		return -ENOMEM;

	uint32_t hash = hash_bytes(key, len, pending->seed);
	struct pending_entry **at = find_pending(pending, key, len, hash);

	if (*at) {
		(*at)->time_ns = time_ns;
		return 1;
	}
	if (pending->nr == PENDING_MAX || pending->bytes + len > PENDING_BYTES_MAX)
		return -ENOSPC;

	struct pending_entry *entry = malloc(sizeof(*entry) + len);

	if (!entry)
		return -ENOMEM;
	*entry = (struct pending_entry){ .hash = hash, .time_ns = time_ns, .len = len };
	memcpy(entry->key, key, len);
	*at = entry;
	pending->nr++;
	pending->bytes += len;
	return 0;
}

bool pending_end(struct pending *pending, const void *key, size_t len, uint64_t *time_ns)
{
	if (!pending->nr)
		return false;

	uint32_t hash = hash_bytes(key, len, pending->seed);
	struct pending_entry **at = find_pending(pending, key, len, hash);
	struct pending_entry *entry = *at;

	if (!entry)
		return false;
	*time_ns = entry->time_ns;
	*at = entry->next;
	pending->nr--;
	pending->bytes -= len;
	free(entry);
	return true;
}
