/* Merges the call trees of several threads, and sorts the nodes (see tree.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/vec.h"
#include "utils/view/graph/tree_nodes.h"

static int merge_fork_calls(struct tree *tree, const struct tree *from)
{
	for (size_t i = 0; i < from->nr_fork_calls; i++) {
		struct tree_fork_call *calls = vec_grow(tree->fork_calls, tree->nr_fork_calls,
							sizeof(*calls));

		if (!calls)
			return -ENOMEM;
		tree->fork_calls = calls;
		calls[tree->nr_fork_calls] = from->fork_calls[i];
		calls[tree->nr_fork_calls++].node = from->fork_calls[i].node->last;
	}
	return 0;
}

/*
 * Remove the names of calls without a recorded entry. If such a call had a name, tree_merge() would
 * unite the call with other calls of the same function. merge_unseen() gives the names back.
 */
static void hide_names(struct tree *from, const struct func **names)
{
	for (size_t i = 0; i < from->nr_unseen; i++) {
		names[i] = from->unseen[i].node->func;
		from->unseen[i].node->func = NULL;
	}
}

static int merge_unseen(struct tree *tree, const struct tree *from, const struct func **names)
{
	for (size_t i = 0; i < from->nr_unseen; i++) {
		struct tree_unseen *unseen;

		if (tree->nr_unseen == TREE_UNSEEN_MAX)
			return -EFBIG;
		unseen = vec_grow(tree->unseen, tree->nr_unseen, sizeof(*unseen));
		if (!unseen)
			return -ENOMEM;
		tree->unseen = unseen;
		unseen[tree->nr_unseen] = from->unseen[i];
		unseen[tree->nr_unseen].node = from->unseen[i].node->last;
		unseen[tree->nr_unseen++].node->func = names[i] ? tree_canon(tree, names[i]) : NULL;
	}
	return 0;
}

int tree_merge(struct tree *tree, struct tree *from, struct uft_err *err)
{
	const struct func **names cleanup_free = calloc(from->nr_unseen + 1, sizeof(struct func *));
	int ret = names ? 0 : -ENOMEM;

	if (names)
		hide_names(from, names);
	for (size_t i = 0; ret == 0 && i < from->nr_roots; i++)
		ret = tree_add_below(tree, tree->roots[i], from->roots[i]);
	if (ret == 0)
		ret = tree_merge_forks(tree, from);
	if (ret == 0)
		ret = merge_fork_calls(tree, from);
	if (ret == 0)
		ret = merge_unseen(tree, from, names);
	tree->nr_dropped += from->nr_dropped;
	return ret < 0 ? tree_no_room(ret, err) : 0;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct tree_node *x = *(struct tree_node *const *)a;
	const struct tree_node *y = *(struct tree_node *const *)b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return strcmp(x->func->name, y->func->name);
}

static int sort_children(struct tree_node *parent, int (*compare)(const void *a, const void *b))
{
	size_t nr = 0;

	for (struct tree_node *node = parent->first; node; node = node->next)
		nr++;
	if (nr < 2)
		return 0;

	struct tree_node **nodes cleanup_free = calloc(nr, sizeof(struct tree_node *));

	if (!nodes)
		return -ENOMEM;
	nr = 0;
	for (struct tree_node *node = parent->first; node; node = node->next)
		nodes[nr++] = node;
	qsort(nodes, nr, sizeof(struct tree_node *), compare);
	parent->first = NULL;
	for (size_t i = nr; i-- > 0;) {
		nodes[i]->next = parent->first;
		parent->first = nodes[i];
	}
	return 0;
}

int tree_sort(struct tree_node *root)
{
	return tree_sort_by(root, compare_nodes);
}

int tree_sort_by(struct tree_node *root, int (*compare)(const void *a, const void *b))
{
	for (struct tree_node *node = root; node; node = tree_next(node, root)) {
		int ret = sort_children(node, compare);

		if (ret < 0)
			return ret;
	}
	return 0;
}

int tree_finish(struct tree *tree, struct uft_err *err)
{
	int ret = tree_settle(tree);

	for (size_t i = 0; ret == 0 && i < tree->nr_roots; i++) {
		struct tree_node *root = tree->roots[i];

		ret = tree_sort(root);
		root->calls = root->first ? 1 : 0;
		root->total_ns = 0;
		for (const struct tree_node *node = root->first; node; node = node->next)
			root->total_ns += node->total_ns;
	}
	return ret < 0 ? err_set_errno(err, ret, "cannot hold the call tree") : 0;
}

/* Each thread makes a tree of its own. Afterwards, the trees are merged. */
static int run_threads(struct tree *tree, struct pipeline *pipe, size_t nr, struct uft_err *err)
{
	struct tree *parts cleanup_free = calloc(nr, sizeof(*parts));
	struct view *views cleanup_free = calloc(nr, sizeof(*views));
	int ret = parts && views ? 0 : err_set_errno(err, -ENOMEM, "cannot hold the call tree");

	for (size_t i = 0; ret == 0 && i < nr; i++) {
		ret = tree_init(&parts[i], pipe, err);
		parts[i].wants_details = tree->wants_details;
		parts[i].wants_counters = tree->wants_counters;
		parts[i].counts_outside = tree->counts_outside;
		parts[i].kinds = tree->kinds;
		views[i] = (struct view){
			.events = tree_events,
			.self = &parts[i],
			.resume = tree_resume,
			.in_parts = true,
		};
	}
	if (ret == 0)
		ret = pipeline_run_parallel(pipe, views, nr, err);
	for (size_t i = 0; ret == 0 && i < nr; i++)
		ret = tree_merge(tree, &parts[i], err);
	for (size_t i = 0; parts && i < nr; i++)
		tree_deinit(&parts[i]);
	return ret;
}

int tree_run(struct tree *tree, struct pipeline *pipe, size_t threads, struct uft_err *err)
{
	const struct view view = { .events = tree_events, .self = tree, .in_parts = true };
	size_t nr = pipeline_threads(pipe, threads);
	int ret = nr > 1 ? run_threads(tree, pipe, nr, err) : pipeline_run(pipe, &view, err);

	return ret == 0 ? tree_finish(tree, err) : ret;
}
