/* Growth of counters in the calls of a tree (see tree_counters.h). */
#include "utils/view/graph/tree_counters.h"

#include <string.h>

static int add_counter_kind(void *self, const struct event_kind *kind)
{
	struct tree_counters *counters = self;
	size_t index;
	const char *name = event_kind_counter(kind, &index);

	if (!name || counters->nr == COUNTERS_MAX)
		return 0;
	counters->list[counters->nr].name = name;
	counters->list[counters->nr].unit = strstr(name, "-clock") ? "nanoseconds" : "count";
	counters->list[counters->nr++].number = index + 1;
	return 0;
}

void tree_counters_find(struct tree_counters *counters, const struct event_kinds *kinds)
{
	event_kinds_each(kinds, add_counter_kind, counters);
}

/*
 * Finish the value of @node, and add the value of @node to the parent's value. The value of @node
 * is the larger of two numbers: the measured growth of the counter in the calls of @node, and the
 * sum of the callees' values. The sum may be larger if a call was open when the counter was first
 * read.
 */
static void add_to_parent(struct tree_node *node, uint32_t number)
{
	for (const struct tree_node *child = node->first; child; child = child->next) {
		if (child->counter == number)
			node->value = MAX(node->value, child->value);
	}
	node->parent->value += node->value;
}

static void spread_below(struct tree_node *root, uint32_t number)
{
	struct tree_node *node = root->first;

	root->value = 0;
	while (node) {
		if (!node->counter)
			node->value = 0;
		if (node->first) {
			node = node->first;
			continue;
		}
		for (; node != root; node = node->parent) {
			if (!node->counter)
				add_to_parent(node, number);
			if (node->next)
				break;
		}
		node = node == root ? NULL : node->next;
	}
}

void tree_counters_spread(const struct tree *tree, uint32_t number)
{
	for (size_t i = 0; i < tree->nr_roots; i++)
		spread_below(tree->roots[i], number);
}

uint64_t tree_counters_own(const struct tree_node *node)
{
	uint64_t own = node->value;

	for (const struct tree_node *child = own ? node->first : NULL; child; child = child->next)
		own -= child->counter ? 0 : child->value;
	return own;
}
