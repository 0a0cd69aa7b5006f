/* Pairs of callers and callees (see callers.h). */
#include "utils/view/graph/callers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/view/graph/tree_counters.h"

void callers_deinit(struct callers *callers)
{
	free(callers->pairs);
	*callers = (struct callers){ 0 };
}

static int compare_names(const struct func *x, const struct func *y)
{
	if (x == y)
		return 0;
	if (!x || !y)
		return x ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int compare_pairs(const void *a, const void *b)
{
	const struct call_pair *x = a;
	const struct call_pair *y = b;
	int order = compare_names(x->caller, y->caller);

	return order ? order : compare_names(x->callee, y->callee);
}

/*
 * Collects one pair of caller and callee for each node. fold() unites equal pairs.
 *
 * @open: element N is the number of nodes of function N on the path from the root to the current
 *        node
 */
struct collector {
	struct callers *callers;
	size_t cap;
	uint32_t *open;
	size_t nr_open;
	bool of_counter; /* add up a counter, not times */
};

static int grow_open(struct collector *c, size_t id)
{
	uint32_t *open = vec_reach(c->open, &c->nr_open, id, sizeof(*open));

	if (!open)
		return -ENOMEM;
	c->open = open;
	return 0;
}

static size_t fold(struct call_pair *pairs, size_t nr)
{
	size_t kept = 0;

	if (nr)
		qsort(pairs, nr, sizeof(*pairs), compare_pairs);
	for (size_t i = 0; i < nr; i++) {
		struct call_pair *last = kept ? &pairs[kept - 1] : NULL;

		if (last && compare_pairs(last, &pairs[i]) == 0) {
			last->calls += pairs[i].calls;
			last->total_ns += pairs[i].total_ns;
			last->self_ns += pairs[i].self_ns;
		} else {
			pairs[kept++] = pairs[i];
		}
	}
	return kept;
}

/*
 * Make room for one more pair. When the table is full, first merge equal pairs, because many nodes
 * often share the same few pairs. Enlarge the table only if the table is then at least half full.
 */
static int make_room(struct collector *c)
{
	if (c->callers->nr < c->cap)
		return 0;
	c->callers->nr = fold(c->callers->pairs, c->callers->nr);
	if (c->callers->nr * 2 < c->cap)
		return 0;

	size_t cap = c->cap ? c->cap * 2 : 1024;
	struct call_pair *pairs = reallocarray(c->callers->pairs, cap, sizeof(*pairs));

	if (!pairs)
		return -ENOMEM;
	c->callers->pairs = pairs;
	c->cap = cap;
	return 0;
}

static int enter_pair(struct collector *c, const struct tree_node *node)
{
	const struct func *func = node->func;

	if ((func->id >= c->nr_open && grow_open(c, func->id) < 0) || make_room(c) < 0)
		return -ENOMEM;
	c->callers->pairs[c->callers->nr++] = (struct call_pair){
		.caller = node->parent->func,
		.callee = func,
		.calls = node->calls,
		.total_ns = c->open[func->id] ? 0
			    : c->of_counter   ? node->value
					      : node->total_ns,
		.self_ns = c->of_counter ? tree_counters_own(node) : node->self_ns,
	};
	c->open[func->id]++;
	return 0;
}

/*
 * Add a pair of caller and callee for each node below @root. Nodes that stand for a counter
 * (`read=`) instead of calls are left out.
 */
static int add_root(struct collector *c, const struct tree_node *root)
{
	const struct tree_node *node = root->first;

	while (node) {
		if (!node->counter && enter_pair(c, node) < 0)
			return -ENOMEM;
		if (node->first) {
			node = node->first;
			continue;
		}
		for (; node != root; node = node->parent) {
			if (!node->counter)
				c->open[node->func->id]--;
			if (node->next)
				break;
		}
		node = node == root ? NULL : node->next;
	}
	return 0;
}

int callers_add_up(struct callers *callers, const struct tree *tree, bool of_counter,
		   struct uft_err *err)
{
	struct collector c = { .callers = callers, .of_counter = of_counter };
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < tree->nr_roots; i++)
		ret = add_root(&c, tree->roots[i]);
	callers->nr = fold(callers->pairs, callers->nr);
	free(c.open);
	return ret < 0 ? err_set_errno(err, ret, "cannot add up calls") : 0;
}
