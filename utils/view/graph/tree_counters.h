/* Growth of counters (`read=`) in the calls of a tree: with callees, and without. */
#ifndef UTRAIL_VIEW_TREE_COUNTERS_H
#define UTRAIL_VIEW_TREE_COUNTERS_H

#include "utils/pipeline/kinds/event_kinds.h"
#include "utils/view/graph/tree.h"

/*
 * The counters of the recording.
 *
 * @number: as tree_node.counter has it
 * @unit: "nanoseconds" of those that measure time, or "count"
 */
struct tree_counters {
	struct {
		char *name;
		const char *unit;
		uint32_t number;
	} list[COUNTERS_MAX];
	size_t nr;
};

/*
 * Find the counters. @counters starts as { 0 } and ends with tree_counters_deinit(). Returns 0 or
 * -ENOMEM.
 */
int tree_counters_find(struct tree_counters *counters, const struct event_kinds *kinds);
void tree_counters_deinit(struct tree_counters *counters);

/*
 * Set @value of all functions' nodes: the growth of the counter of @number in their calls,
 * including their callees. A missing reading is replaced by the sum of the calls below.
 */
void tree_counters_spread(const struct tree *tree, uint32_t number);

/* Returns the value of a function's node without that of the calls below. */
uint64_t tree_counters_own(const struct tree_node *node);

#endif
