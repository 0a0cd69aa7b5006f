/* Keeps calls as a tree of contexts (see contexts.h). */
#include "cmds/show/parts/contexts.h"

#include <stdbool.h>
#include <stdlib.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/vec.h"

#define FIRST_SLOTS 256

void contexts_deinit(struct contexts *contexts)
{
	free(contexts->nodes);
	free(contexts->slots);
	*contexts = (struct contexts){ 0 };
}

static size_t find_slot(const struct contexts *contexts, uint32_t parent, uint32_t func)
{
	const size_t mask = contexts->nr_slots - 1;
	uint64_t mixed = ((uint64_t)parent << 32 | func) * 0x9e3779b97f4a7c15ULL;
	size_t at = (mixed >> 32) & mask;

	for (uint32_t node; (node = contexts->slots[at]) != 0; at = (at + 1) & mask) {
		if (contexts->nodes[node].parent == parent && contexts->nodes[node].func == func)
			break;
	}
	return at;
}

/* Makes a table with at least two slots for each node. */
static bool make_slots(struct contexts *contexts)
{
	size_t nr = contexts->nr_slots ? contexts->nr_slots * 2 : FIRST_SLOTS;
	uint32_t *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	free(contexts->slots);
	contexts->slots = slots;
	contexts->nr_slots = nr;
	for (size_t node = 1; node < contexts->nr; node++) {
		const struct context *one = &contexts->nodes[node];

		slots[find_slot(contexts, one->parent, one->func)] = node;
	}
	return true;
}

static uint32_t add_context(struct contexts *contexts, struct context context)
{
	struct context *nodes = vec_room(contexts->nodes, contexts->nr, &contexts->cap,
					 sizeof(*nodes));

	if (!nodes || contexts->nr == UINT32_MAX)
		return 0;
	contexts->nodes = nodes;
	nodes[contexts->nr] = context;
	return contexts->nr++;
}

uint32_t contexts_child(struct contexts *contexts, uint32_t parent, uint32_t func)
{
	if (unlikely(!contexts->nr)) {
		add_context(contexts, (struct context){ 0 });
		if (!contexts->nr)
			return 0;
	}

	uint32_t last = contexts->nodes[parent].last;

	if (likely(last && contexts->nodes[last].func == func))
		return last;
	if (contexts->nr * 2 >= contexts->nr_slots && !make_slots(contexts))
		return 0;

	size_t slot = find_slot(contexts, parent, func);
	uint32_t node = contexts->slots[slot];

	if (!node) {
		uint16_t depth = parent ? contexts->nodes[parent].depth : UINT16_MAX;

		depth = parent && depth == UINT16_MAX ? depth : depth + 1;
		node = add_context(contexts, (struct context){ func, parent, 0, depth });
		if (!node)
			return 0;
		contexts->slots[slot] = node;
	}
	contexts->nodes[parent].last = node;
	return node;
}
