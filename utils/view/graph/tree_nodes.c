/* The nodes of a call tree: their storage, look-up of children, addition of trees (see tree.h). */
#include "utils/view/graph/tree_nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"

#define BLOCK_NODES 512
#define FIRST_SLOTS 1024

/* Storage of nodes. Nodes never move in memory. */
struct tree_block {
	struct tree_block *next;
	size_t nr;
	struct tree_node nodes[BLOCK_NODES];
};

struct tree_node *tree_add_nameless(struct tree *tree, struct tree_node *parent)
{
	if (!tree->blocks || tree->blocks->nr == BLOCK_NODES) {
		struct tree_block *block = malloc(sizeof(*block));

		if (!block)
			return NULL;
		block->next = tree->blocks;
		block->nr = 0;
		tree->blocks = block;
	}

	struct tree_node *node = &tree->blocks->nodes[tree->blocks->nr];

	*node = (struct tree_node){ .parent = parent, .first_ns = UINT64_MAX };
	if (tree->wants_details) {
		node->details = malloc(sizeof(*node->details));
		if (!node->details)
			return NULL;
		*node->details = (struct tree_details){
			.total_min_ns = UINT64_MAX,
			.self_min_ns = UINT64_MAX,
		};
	}
	tree->blocks->nr++;
	if (parent) {
		node->next = parent->first;
		parent->first = node;
	}
	return node;
}

static size_t first_slot(const struct tree *tree, const struct tree_node *parent,
			 const struct func *func)
{
	uint64_t key = (uintptr_t)parent * 31 + (uintptr_t)func;

	return (key * 0x9e3779b97f4a7c15ULL >> 32) & (tree->nr_slots - 1);
}

static struct tree_node **find_slot(const struct tree *tree, const struct tree_node *parent,
				    const struct func *func)
{
	size_t at = first_slot(tree, parent, func);

	while (tree->slots[at] &&
	       (tree->slots[at]->parent != parent || tree->slots[at]->func != func))
		at = (at + 1) & (tree->nr_slots - 1);
	return &tree->slots[at];
}

static int grow_slots(struct tree *tree)
{
	struct tree_node **old = tree->slots;
	size_t nr_old = tree->nr_slots;
	size_t nr = nr_old ? nr_old * 2 : FIRST_SLOTS;
	struct tree_node **slots = calloc(nr, sizeof(struct tree_node *));

	if (!slots)
		return -ENOMEM;
	tree->slots = slots;
	tree->nr_slots = nr;
	for (size_t i = 0; i < nr_old; i++) {
		if (old[i])
			*find_slot(tree, old[i]->parent, old[i]->func) = old[i];
	}
	free(old);
	return 0;
}

static int grow_canon(struct tree *tree, size_t id)
{
	const struct func **canon = vec_reach(tree->canon, &tree->nr_canon, id,
					      sizeof(struct func *));

	if (!canon)
		return -ENOMEM;
	tree->canon = canon;
	return 0;
}

/*
 * Returns the function that represents all functions with the name of @func, or NULL when memory is
 * short.
 */
static const struct func *first_named(struct tree *tree, const struct func *func)
{
	const struct func *known = strmap_get(&tree->names, func->name);

	if (!known && strmap_put(&tree->names, func->name, (void *)func) < 0)
		return NULL;
	return known ? known : func;
}

const struct func *tree_canon(struct tree *tree, const struct func *func)
{
	if (func->id >= tree->nr_canon && grow_canon(tree, func->id) < 0)
		return NULL;
	if (!tree->canon[func->id])
		tree->canon[func->id] = first_named(tree, func);
	return tree->canon[func->id];
}

struct tree_node *tree_enlist(struct tree *tree, struct tree_node *parent, struct tree_node *node)
{
	if (tree->nr_nodes * 2 >= tree->nr_slots && grow_slots(tree) < 0)
		return NULL;

	struct tree_node **slot = find_slot(tree, parent, node->func);

	if (!*slot) {
		*slot = node;
		node->parent = parent;
		tree->nr_nodes++;
	}
	return *slot;
}

/* Like tree_child(). @func must be a result of first_named(). */
static struct tree_node *get_child(struct tree *tree, struct tree_node *node,
				   const struct func *func)
{
	if (tree->nr_nodes * 2 >= tree->nr_slots && grow_slots(tree) < 0)
		return NULL;

	struct tree_node **slot = find_slot(tree, node, func);

	if (!*slot) {
		*slot = tree_add_nameless(tree, node);
		if (!*slot)
			return NULL;
		(*slot)->func = func;
		tree->nr_nodes++;
	}
	return *slot;
}

struct tree_node *tree_child(struct tree *tree, struct tree_node *node, const struct func *func)
{
	func = tree_canon(tree, func);
	return func ? get_child(tree, node, func) : NULL;
}

struct tree_node *tree_child_named(struct tree *tree, struct tree_node *node,
				   const struct func *func)
{
	func = first_named(tree, func);
	return func ? get_child(tree, node, func) : NULL;
}

void tree_add_numbers(struct tree_node *to, const struct tree_node *from)
{
	to->calls += from->calls;
	to->total_ns += from->total_ns;
	to->self_ns += from->self_ns;
	to->value += from->value;
	to->counter = from->counter;
	if (from->first_ns < to->first_ns || !to->addr) {
		to->first_ns = from->first_ns;
		to->addr = from->addr;
	}
	if (to->details && from->details) {
		struct tree_details *x = to->details;
		const struct tree_details *y = from->details;

		x->total_min_ns = MIN(x->total_min_ns, y->total_min_ns);
		x->total_max_ns = MAX(x->total_max_ns, y->total_max_ns);
		x->self_min_ns = MIN(x->self_min_ns, y->self_min_ns);
		x->self_max_ns = MAX(x->self_max_ns, y->self_max_ns);
	}
}

int tree_add_below(struct tree *tree, struct tree_node *to, struct tree_node *from)
{
	from->last = to;
	for (struct tree_node *node = from; (node = tree_next(node, from)) != NULL;) {
		struct tree_node *parent = node->parent->last;
		struct tree_node *copy = node->func ? tree_child(tree, parent, node->func)
						    : tree_add_nameless(tree, parent);

		if (!copy)
			return -ENOMEM;
		tree_add_numbers(copy, node);
		node->last = copy;
	}
	return 0;
}

struct tree_node *tree_add_subtree(struct tree *tree, struct tree_node *parent,
				   struct tree_node *from)
{
	struct tree_node *copy = tree_child(tree, parent, from->func);

	if (!copy)
		return NULL;
	tree_add_numbers(copy, from);
	return tree_add_below(tree, copy, from) < 0 ? NULL : copy;
}

int tree_init(struct tree *tree, const struct pipeline *pipe, struct uft_err *err)
{
	*tree = (struct tree){ .pipe = pipe, .nr_roots = pipe->data->nr_sessions + 1 };
	tree->roots = calloc(tree->nr_roots, sizeof(struct tree_node *));
	if (!tree->roots)
		return err_set_errno(err, -ENOMEM, "cannot hold the call tree");
	for (size_t i = 0; i < tree->nr_roots; i++) {
		tree->roots[i] = tree_add_nameless(tree, NULL);
		if (!tree->roots[i])
			return err_set_errno(err, -ENOMEM, "cannot hold the call tree");
	}
	if (tree_find_children(tree) < 0)
		return err_set_errno(err, -ENOMEM, "cannot hold the call tree");
	return 0;
}

void tree_deinit(struct tree *tree)
{
	for (struct tree_block *block = tree->blocks, *next; block; block = next) {
		next = block->next;
		for (size_t i = 0; tree->wants_details && i < block->nr; i++)
			free(block->nodes[i].details);
		free(block);
	}
	strmap_deinit(&tree->names);
	intmap_deinit(&tree->point_funcs);
	intmap_deinit(&tree->pids);
	free(tree->canon);
	free(tree->slots);
	free(tree->roots);
	free(tree->children);
	free(tree->forks);
	free(tree->fork_calls);
	free(tree->unseen);
	free(tree->parked);
	*tree = (struct tree){ 0 };
}
