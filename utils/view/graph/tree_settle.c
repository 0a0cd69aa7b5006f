/*
 * Call trees: a call whose entry was not recorded gets its place after the last event (see tree.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/view/graph/tree_nodes.h"

/* The maximum number of ancestors that generation() counts: corrupt data may have cycles. */
#define GENERATIONS_MAX 1000

/*
 * find_fork_call() searches the parent process for the call of fork(2) that made a child. At most
 * FORK_CALLS_MAX calls of fork(2) are compared with the open calls of the child. Nearly always, the
 * first compared call is the right one.
 */
#define FORK_CALLS_MAX 64

static unsigned generation(const struct tree *tree, const struct task *task)
{
	unsigned nr = 0;

	while (task && task->is_fork && nr < GENERATIONS_MAX) {
		task = data_task(tree->pipe->data, task->ppid);
		nr++;
	}
	return nr;
}

static void note_generations(struct tree *tree)
{
	for (size_t i = 0; i < tree->nr_unseen; i++) {
		struct tree_unseen *unseen = &tree->unseen[i];

		unseen->generation = i > 0 && unseen[-1].task == unseen->task
					     ? unseen[-1].generation
					     : generation(tree, unseen->task);
	}
}

/*
 * Sort forked tasks before their parents. The inherited calls of a child move below nodes of the
 * parent, and some of these nodes are removed when the parent's calls move. So the child's calls
 * must move first.
 *
 * The inherited calls of a task come after the task's other calls. In each of these two groups,
 * inner calls come before outer calls.
 */
static int compare_unseen(const void *a, const void *b)
{
	const struct tree_unseen *x = a;
	const struct tree_unseen *y = b;

	if (x->generation != y->generation)
		return x->generation > y->generation ? -1 : 1;
	if (x->task != y->task)
		return x->task->index < y->task->index ? -1 : 1;
	if (x->is_inherited != y->is_inherited)
		return x->is_inherited ? 1 : -1;
	return x->depth > y->depth ? -1 : x->depth < y->depth;
}

/*
 * Move the callees of @from to @into. If a callee of @from has the same function as a callee of
 * @into, unite these two nodes, and append the node from @from to the list of absorb(). absorb()
 * then moves the callees of each node in its list. *@last is the end of the list.
 */
static int move_children(struct tree *tree, struct tree_node *into, struct tree_node *from,
			 struct tree_node **last)
{
	for (struct tree_node *node = from->first, *next; node; node = next) {
		struct tree_node *known = node;

		next = node->next;
		if (node->is_gone)
			continue;
		if (node->func)
			known = tree_enlist(tree, into, node);
		if (!known)
			return -ENOMEM;
		if (known == node) {
			node->parent = into;
			node->next = into->first;
			into->first = node;
			continue;
		}
		tree_add_numbers(known, node);
		node->is_gone = true;
		node->last = known;
		node->after = NULL;
		(*last)->after = node;
		*last = node;
	}
	from->first = NULL;
	return 0;
}

/*
 * Move all descendants of @from to the subtree of @into, and remove @from. If the new parent of a
 * descendant already has a callee with the same function, the descendant is united with this
 * callee. Otherwise, the descendant is moved together with its own descendants.
 */
static int absorb(struct tree *tree, struct tree_node *into, struct tree_node *from)
{
	struct tree_node *last = from;

	from->is_gone = true;
	from->last = into;
	from->after = NULL;
	for (struct tree_node *node = from; node; node = node->after) {
		if (move_children(tree, node->last, node, &last) < 0)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Unite a call with its sibling of the same name. A call without a name is united with its caller.
 */
static int settle_node(struct tree *tree, struct tree_node *node)
{
	struct tree_node *known;

	if (node->is_gone)
		return 0;
	if (!node->func)
		return absorb(tree, node->parent, node);
	known = tree_enlist(tree, node->parent, node);
	if (!known)
		return -ENOMEM;
	if (known == node)
		return 0;
	tree_add_numbers(known, node);
	return absorb(tree, known, node);
}

static struct tree_node *find_child(const struct tree_node *parent, const struct func *func)
{
	struct tree_node *node = parent->first;

	while (node && (node->is_gone || node->func != func))
		node = node->next;
	return node;
}

/*
 * Guess the node of an inherited call that has no name. The parent process has returned from this
 * call. A candidate is a callee of @parent that has a name, and whose first call began at @until_ns
 * or earlier. The guess is the candidate whose first call began last.
 *
 * @callee: a function that the guessed node must have called, or NULL
 */
static struct tree_node *guess_child(const struct tree_node *parent, const struct func *callee,
				     uint64_t until_ns)
{
	struct tree_node *best = NULL;

	for (struct tree_node *node = parent->first; node; node = node->next) {
		if (node->is_gone || !node->func || !node->func->sym || node->first_ns > until_ns ||
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
 * Find a node in the parent's tree for each inherited call of a forked child, from the outermost
 * call inwards. Each node is a callee of the node that was found for the call's caller. The node is
 * chosen by the first rule that applies:
 *
 * - If the inherited call at depth i has no name, or is a call of the function of @path[i], choose
 *   @path[i]. This rule applies only if @path[i] is a callee of the caller's node.
 * - If the inherited call has a name, choose the callee with this name.
 * - Otherwise, choose the result of guess_child().
 *
 * @path: @path[i] is the node of the call that the parent process had open at depth i at the fork
 * @into: @into[i + 1] is the node for the call at depth i, or NULL
 */
static void find_places(const struct tree_unseen *chain, size_t nr, struct tree_node **path,
			size_t nr_path, struct tree_node **into)
{
	for (size_t depth = 0; depth < nr; depth++) {
		const struct func *func = chain[nr - 1 - depth].node->func;
		struct tree_node *caller = into[depth];
		struct tree_node *open = depth < nr_path ? path[depth] : NULL;

		if (open && !open->is_gone && open->parent == caller &&
		    (!func || open->func == func))
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

/*
 * Move the inherited calls of a forked child, and the calls below the inherited calls, into the
 * tree of the child's parent.
 *
 * @chain: the inherited calls; the innermost call comes first
 */
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
	/*
	 * Hide the nodes of @chain, which are calls of the child process. find_places() must find
	 * calls of the parent process.
	 */
	for (size_t i = 0; i < nr; i++)
		chain[i].node->is_gone = true;
	find_places(chain, nr, path, nr_path, into);
	for (size_t i = 0; i < nr; i++) {
		struct tree_node *node = chain[i].node;
		size_t depth = nr - i;

		if (!tree->counts_inherited)
			node->calls = 0; /* the parent process has counted the call */
		if (into[depth])
			tree_add_numbers(into[depth], node);
		while (!into[depth])
			depth--;
		if (absorb(tree, into[depth], node) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int compare_fork_calls(const void *a, const void *b)
{
	const struct tree_fork_call *x = a;
	const struct tree_fork_call *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/*
 * True when @node is @nr levels below the root, and @node and its callers have the functions of
 * chain[0], chain[1] ... An unknown function is equal to any other.
 */
static bool fits_chain(const struct tree_node *node, const struct tree_unseen *chain, size_t nr)
{
	for (size_t i = 0; i < nr; i++, node = node->parent) {
		const struct func *func = chain[i].node->func;

		if (!node->parent || (func && node->func && node->func != func))
			return false;
	}
	return !node->parent;
}

/*
 * Find the last call of fork(2), in any thread of the parent process, that fits the child's open
 * calls. The search leaves out calls that began after the child's start_ns. Returns NULL if no call
 * fits.
 */
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
 * Returns the parent's call that has forked the task, for example the call of fork(2). If this call
 * is unknown, returns the call that was the parent's innermost call when task.txt announced the
 * task, some time after the fork (struct tree_fork). If neither call is known, returns the root.
 * Returns NULL if the task was not forked, or if the task's parent is unknown.
 */
static struct tree_node *find_fork(const struct tree *tree, const struct tree_unseen *unseen,
				   size_t nr)
{
	const struct task *child = unseen->task;
	struct tree_node *best = NULL;

	if (!child->is_fork || !intmap_get(&tree->pids, (uint32_t)child->ppid))
		return NULL;
	best = find_fork_call(tree, unseen, nr);
	if (best)
		return best;
	if (tree->forks)
		best = tree->forks[child->index].top;
	for (struct tree_node *node = unseen->node; !best; node = node->parent) {
		if (!node->parent)
			best = node;
	}
	return best;
}

/*
 * Move the inherited calls of a task to their places. @chain: the innermost call comes first
 */
static int settle_inherited(struct tree *tree, const struct tree_unseen *chain, size_t nr)
{
	struct tree_node *top = find_fork(tree, chain, nr);

	if (top)
		return graft(tree, chain, nr, top);
	for (size_t i = nr; i-- > 0;) {
		if (settle_node(tree, chain[i].node) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Remove each node that has is_gone from its parent's list of children. */
static void drop_gone(struct tree_node *root)
{
	for (struct tree_node *node = root; node; node = tree_next(node, root)) {
		struct tree_node **link = &node->first;

		while (*link) {
			if ((*link)->is_gone)
				*link = (*link)->next;
			else
				link = &(*link)->next;
		}
	}
}

static int note_pids(struct tree *tree)
{
	for (size_t i = 0; i < tree->pipe->nr_lanes; i++) {
		struct task *task = tree->pipe->lanes[i].task;

		if (intmap_put(&tree->pids, (uint32_t)task->pid, task) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int settle_sorted(struct tree *tree)
{
	const struct tree_unseen *all = tree->unseen;
	size_t nr = 0;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < tree->nr_unseen; i += nr) {
		nr = 1;
		while (i + nr < tree->nr_unseen && all[i + nr].task == all[i].task &&
		       all[i + nr].is_inherited == all[i].is_inherited)
			nr++;
		if (all[i].is_inherited) {
			ret = settle_inherited(tree, &all[i], nr);
			continue;
		}
		/* Outer calls come first. Otherwise, a callee could move with each outer call. */
		for (size_t k = nr; ret == 0 && k-- > 0;)
			ret = settle_node(tree, all[i + k].node);
	}
	return ret;
}

int tree_settle(struct tree *tree)
{
	int ret;

	if (!tree->nr_unseen)
		return 0;
	note_generations(tree);
	if (note_pids(tree) < 0)
		return -ENOMEM;
	qsort(tree->unseen, tree->nr_unseen, sizeof(*tree->unseen), compare_unseen);
	if (tree->nr_fork_calls)
		qsort(tree->fork_calls, tree->nr_fork_calls, sizeof(*tree->fork_calls),
		      compare_fork_calls);
	ret = settle_sorted(tree);
	tree->nr_unseen = 0;
	for (size_t i = 0; i < tree->nr_roots; i++)
		drop_gone(tree->roots[i]);
	return ret;
}
