/* Call paths: the functions that were open at a call, each path stored once (see callpath.h). */
#include "utils/pipeline/stages/callpath.h"

#include <stdint.h>
#include <stdlib.h>

void call_paths_deinit(struct call_paths *paths)
{
	for (size_t i = 0; i < paths->nr_slots; i++)
		free(paths->slots[i]);
	free(paths->slots);
	*paths = (struct call_paths){ 0 };
}

static struct call_path **find_path_slot(struct call_path **slots, size_t nr,
					 const struct call_path *parent, const struct func *func,
					 uint64_t addr)
{
	uint64_t hash = ((uintptr_t)parent >> 4 ^ (uintptr_t)func ^ addr << 20) *
				0x9e3779b97f4a7c15ULL >>
			32;
	size_t at = hash & (nr - 1);

	while (slots[at] &&
	       (slots[at]->parent != parent || slots[at]->func != func || slots[at]->addr != addr))
		at = (at + 1) & (nr - 1);
	return &slots[at];
}

static int grow_paths(struct call_paths *paths)
{
	size_t nr = paths->nr_slots ? paths->nr_slots * 2 : 64;
	struct call_path **slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return -1;
	for (size_t i = 0; i < paths->nr_slots; i++) {
		struct call_path *path = paths->slots[i];

		if (path)
			*find_path_slot(slots, nr, path->parent, path->func, path->addr) = path;
	}
	free(paths->slots);
	paths->slots = slots;
	paths->nr_slots = nr;
	return 0;
}

const struct call_path *call_paths_get(struct call_paths *paths, const struct call_path *parent,
				       const struct func *func, uint64_t addr)
{
	struct call_path **slot;

	if ((paths->nr + 1) * 2 > paths->nr_slots && grow_paths(paths) < 0)
		return NULL;
	slot = find_path_slot(paths->slots, paths->nr_slots, parent, func, addr);
	if (*slot)
		return *slot;
	*slot = malloc(sizeof(**slot));
	if (!*slot)
		return NULL;
	**slot = (struct call_path){ parent, func, addr, parent ? parent->depth + 1 : 0 };
	paths->nr++;
	return *slot;
}
