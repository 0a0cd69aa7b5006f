/* Call trees: bringing the parts together when all events are in (see tree.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/base/vec.h"
#include "utils/view/tree_nodes.h"

/* How far a child of a fork of a fork goes; broken data may have circles. */
#define GENERATIONS_MAX 1000

/* How many calls of fork(2) are compared with what a child came from: names and depth of nearly all fit at once. */
#define FORK_CALLS_MAX 64

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

static int merge_forks(struct tree *tree, const struct tree *from)
{
	for (size_t i = 0; i < from->nr_forks; i++) {
		struct tree_fork *forks = vec_grow(tree->forks, tree->nr_forks, sizeof(*forks));

		if (!forks)
			return -ENOMEM;
		tree->forks = forks;
		forks[tree->nr_forks] = from->forks[i];
		forks[tree->nr_forks++].top = from->forks[i].top->last;
	}
	return 0;
}

/*
 * What is below calls that were entered unseen is not yet among the calls of their names, and must not get there by
 * merging: they go over as what they were when they were found. Their names follow in merge_unseen().
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
		struct tree_unseen *unseen = vec_grow(tree->unseen, tree->nr_unseen,
						      sizeof(*unseen));

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
		ret = merge_forks(tree, from);
	if (ret == 0)
		ret = merge_fork_calls(tree, from);
	if (ret == 0)
		ret = merge_unseen(tree, from, names);
	tree->nr_dropped += from->nr_dropped;
	return ret < 0 ? err_set_errno(err, ret, "cannot hold the call tree") : 0;
}

static unsigned generation(const struct tree *tree, const struct task *task)
{
	unsigned nr = 0;

	while (task && task->is_fork && nr < GENERATIONS_MAX) {
		task = data_task(tree->pipe->data, task->ppid);
		nr++;
	}
	return nr;
}

/*
 * Children before their parents, inner calls before outer ones: then nothing is put where
 * something was taken away.
 */
static int compare_unseen(const void *a, const void *b, void *arg)
{
	const struct tree_unseen *x = a;
	const struct tree_unseen *y = b;
	unsigned gx = generation(arg, x->task);
	unsigned gy = generation(arg, y->task);

	if (gx != gy)
		return gx > gy ? -1 : 1;
	if (x->task != y->task)
		return x->task->index < y->task->index ? -1 : 1;
	if (x->is_inherited != y->is_inherited)
		return x->is_inherited ? 1 : -1;
	return x->depth > y->depth ? -1 : x->depth < y->depth;
}

static void unlink_node(struct tree_node *node)
{
	struct tree_node **link = &node->parent->first;

	while (*link != node)
		link = &(*link)->next;
	*link = node->next;
	node->next = NULL;
}

/* Of a call that nobody knows more about: it is one of those of its name, if it has one. */
static int settle(struct tree *tree, const struct tree_unseen *unseen)
{
	struct tree_node *node = unseen->node;

	unlink_node(node);
	if (!node->func)
		return tree_add_below(tree, node->parent, node);
	return tree_add_subtree(tree, node->parent, node) ? 0 : -ENOMEM;
}

static struct tree_node *find_child(const struct tree_node *parent, const struct func *func)
{
	struct tree_node *node = parent->first;

	while (node && node->func != func)
		node = node->next;
	return node;
}

/*
 * Of a call that nobody knows by name, and that the parent had not open any more: the one that began last before @until_ns
 * and called @callee, if that is known.
 */
static struct tree_node *guess_child(const struct tree_node *parent, const struct func *callee,
				     uint64_t until_ns)
{
	struct tree_node *best = NULL;

	for (struct tree_node *node = parent->first; node; node = node->next) {
		if (!node->func || !node->func->sym || node->first_ns > until_ns ||
		    (callee && !find_child(node, callee)))
			continue;
		if (!best || node->first_ns > best->first_ns ||
		    (node->first_ns == best->first_ns &&
		     strcmp(node->func->name, best->func->name) < 0))
			best = node;
	}
	return best;
}

/*
 * Where the calls are that a forked child found open, from the outermost on: by name as far as the
 * child has returned from them, else by what the parent had open when it forked.
 *
 * @into: what @into[i + 1] says of the one at depth i; NULL: the parent's tree has no such call
 */
static void find_places(const struct tree_unseen *chain, size_t nr, struct tree_node **path,
			size_t nr_path, struct tree_node **into)
{
	for (size_t depth = 0; depth < nr; depth++) {
		const struct func *func = chain[nr - 1 - depth].node->func;
		struct tree_node *caller = into[depth];
		struct tree_node *open = depth < nr_path ? path[depth] : NULL;

		if (open && open->parent == caller && (!func || open->func == func))
			into[depth + 1] = open;
		else if (caller && func)
			into[depth + 1] = find_child(caller, func);
		else if (caller)
			into[depth + 1] = guess_child(
				caller, depth + 1 < nr ? chain[nr - 2 - depth].node->func : NULL,
				chain->task->start_ns);
		else
			into[depth + 1] = NULL;
	}
}

/* Put what the child did below them into its parent's tree. @chain: the innermost first */
static int graft(struct tree *tree, const struct tree_unseen *chain, size_t nr,
		 struct tree_node *top)
{
	size_t nr_path = 0;

	for (struct tree_node *node = top; node->parent; node = node->parent)
		nr_path++;

	struct tree_node **path cleanup_free = calloc(nr_path + 1, sizeof(struct tree_node *));
	struct tree_node **into cleanup_free = calloc(nr + 1, sizeof(struct tree_node *));

	if (!path || !into)
		return -ENOMEM;
	for (size_t i = nr_path; i-- > 0; top = top->parent)
		path[i] = top;
	into[0] = top;
	find_places(chain, nr, path, nr_path, into);
	for (size_t i = 0; i < nr; i++) {
		struct tree_node *node = chain[i].node;
		size_t depth = nr - i;

		unlink_node(node);
		if (!tree->counts_inherited)
			node->calls = 0; /* the parent's */
		if (into[depth])
			tree_add_numbers(into[depth], node);
		while (!into[depth])
			depth--;

		int ret = tree_add_below(tree, into[depth], node);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Is the parent one of the tasks that were looked at? */
static bool has_parent(const struct tree *tree, const struct task *child)
{
	for (size_t i = 0; i < tree->pipe->nr_lanes; i++) {
		if (tree->pipe->lanes[i].task->pid == child->ppid)
			return true;
	}
	return false;
}

static int compare_fork_calls(const void *a, const void *b)
{
	const struct tree_fork_call *x = a;
	const struct tree_fork_call *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Is @node what the @nr calls of @chain say, as far as one knows them? */
static bool fits_chain(const struct tree_node *node, const struct tree_unseen *chain, size_t nr)
{
	for (size_t i = 0; i < nr; i++, node = node->parent) {
		const struct func *func = chain[i].node->func;

		if (!node->parent || (func && node->func && node->func != func))
			return false;
	}
	return !node->parent;
}

/* The last call of fork(2) before the child was announced, in any thread of its parent, from which it can have come. */
static struct tree_node *find_fork_call(const struct tree *tree, const struct tree_unseen *chain,
					size_t nr)
{
	const struct task *child = chain->task;
	size_t low = 0;
	size_t high = tree->nr_fork_calls;

	while (low < high) {
		const struct tree_fork_call *call = &tree->fork_calls[low + (high - low) / 2];

		if (call->pid < child->ppid ||
		    (call->pid == child->ppid && call->time_ns <= child->start_ns))
			low = call - tree->fork_calls + 1;
		else
			high = call - tree->fork_calls;
	}
	for (size_t i = 0; i < FORK_CALLS_MAX && i < low; i++) {
		const struct tree_fork_call *call = &tree->fork_calls[low - 1 - i];

		if (call->pid != child->ppid)
			break;
		if (fits_chain(call->node, chain, nr))
			return call->node;
	}
	return NULL;
}

/*
 * What the parent of a forked child had open when it forked; else, as far as that is known, when the child was announced,
 * which of a parent with no calls left is its root; NULL when nothing is known of it. Which thread forked is not
 * recorded; most often it is the first one.
 */
static struct tree_node *find_fork(const struct tree *tree, const struct tree_unseen *unseen,
				   size_t nr)
{
	const struct task *child = unseen->task;
	struct tree_node *best = NULL;

	if (!child->is_fork || !has_parent(tree, child))
		return NULL;
	best = find_fork_call(tree, unseen, nr);
	if (best)
		return best;
	for (size_t i = 0; i < tree->nr_forks; i++) {
		if (tree->forks[i].child == child && (!best || tree->forks[i].is_main))
			best = tree->forks[i].top;
	}
	for (struct tree_node *node = unseen->node; !best; node = node->parent) {
		if (!node->parent)
			best = node;
	}
	return best;
}

static int settle_all(struct tree *tree)
{
	struct tree_unseen *all = tree->unseen;
	size_t nr = 0;
	int ret = 0;

	if (tree->nr_unseen)
		qsort_r(all, tree->nr_unseen, sizeof(*all), compare_unseen, tree);
	if (tree->nr_fork_calls)
		qsort(tree->fork_calls, tree->nr_fork_calls, sizeof(*tree->fork_calls),
		      compare_fork_calls);
	for (size_t i = 0; ret == 0 && i < tree->nr_unseen; i += nr) {
		nr = 1;
		while (all[i].is_inherited && i + nr < tree->nr_unseen &&
		       all[i + nr].task == all[i].task)
			nr++;

		struct tree_node *top = all[i].is_inherited ? find_fork(tree, &all[i], nr) : NULL;

		if (!top)
			nr = 1;
		ret = top ? graft(tree, &all[i], nr, top) : settle(tree, &all[i]);
	}
	tree->nr_unseen = 0;
	return ret;
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
	int ret = settle_all(tree);

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

/* Each thread makes a tree of its own first. */
static int run_threads(struct tree *tree, struct pipeline *pipe, size_t nr, struct uft_err *err)
{
	struct tree *parts cleanup_free = calloc(nr, sizeof(*parts));
	struct view *views cleanup_free = calloc(nr, sizeof(*views));
	int ret = parts && views ? 0 : err_set_errno(err, -ENOMEM, "cannot hold the call tree");

	for (size_t i = 0; ret == 0 && i < nr; i++) {
		ret = tree_init(&parts[i], pipe, err);
		parts[i].wants_details = tree->wants_details;
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
