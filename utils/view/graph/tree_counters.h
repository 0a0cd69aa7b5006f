/*
 * The growth of counters in the calls of a tree's nodes. The growth in callees can be included or
 * left out. The action `read=` of -T chooses the counters.
 */
#ifndef UTRAIL_VIEW_TREE_COUNTERS_H
#define UTRAIL_VIEW_TREE_COUNTERS_H

#include "utils/pipeline/kinds/event_kinds.h"
#include "utils/view/graph/tree.h"

/*
 * The counters of the recording. Each element of @list is one counter.
 *
 * @number: the value of tree_node.counter in all nodes of this counter
 * @unit: "nanoseconds" if this counter measures time, else "count"
 */
struct tree_counters {
	struct {
		const char *name;
		const char *unit;
		uint32_t number;
	} list[COUNTERS_MAX];
	size_t nr;
};

/*
 * Find the counters. @counters starts as { 0 }. The names of the counters belong to @kinds, so
 * @kinds must outlive @counters.
 */
void tree_counters_find(struct tree_counters *counters, const struct event_kinds *kinds);

/*
 * For each node of a function, set tree_node.value to the growth of the counter @number in the
 * function's calls, including callees. The value is at least the sum of the callees' values, even
 * if a reading of the counter is missing.
 */
void tree_counters_spread(const struct tree *tree, uint32_t number);

/* Returns the value of a function's node minus the values of its callees. */
uint64_t tree_counters_own(const struct tree_node *node);

#endif
