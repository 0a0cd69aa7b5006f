/* Call trees: for each child process, the call that forked the process (see tree.h). */
#include <errno.h>
#include <stdlib.h>

#include "utils/view/graph/tree_nodes.h"

static int compare_children(const void *a, const void *b)
{
	const struct task *x = *(const struct task *const *)a;
	const struct task *y = *(const struct task *const *)b;

	if (x->ppid != y->ppid)
		return x->ppid < y->ppid ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

int tree_find_children(struct tree *tree)
{
	const struct trace_data *data = tree->pipe->data;

	tree->children = calloc(data->nr_tasks + 1, sizeof(const struct task *));
	if (!tree->children)
		return -ENOMEM;
	for (size_t i = 0; i < data->nr_tasks; i++) {
		if (data->tasks[i].is_fork)
			tree->children[tree->nr_children++] = &data->tasks[i];
	}
	qsort(tree->children, tree->nr_children, sizeof(const struct task *), compare_children);
	return 0;
}

/*
 * Returns the index in tree->children of the first child of @parent that was announced at @from_ns
 * or later. If there is none, returns the index after the children of @parent.
 */
static size_t first_child(const struct tree *tree, const struct task *parent, uint64_t from_ns)
{
	size_t low = 0;
	size_t high = tree->nr_children;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct task *child = tree->children[mid];

		if (child->ppid < parent->pid ||
		    (child->ppid == parent->pid && child->start_ns < from_ns))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * Returns the child of @parent at index *@at of tree->children, or NULL when @parent has no more
 * children. If the entry at *@at is @parent itself, first advances *@at to the next entry.
 *
 * A task can be in the list of its own children. For example, when a child process has ended, a new
 * thread of the parent process may get the child's tid. Then one struct task stands for the child
 * and the thread.
 */
static const struct task *child_at(const struct tree *tree, const struct task *parent, size_t *at)
{
	for (; *at < tree->nr_children && tree->children[*at]->ppid == parent->pid; ++*at) {
		if (tree->children[*at]->tid != parent->tid)
			return tree->children[*at];
	}
	return NULL;
}

uint64_t tree_next_fork_ns(const struct tree *tree, const struct task *parent, uint64_t from_ns)
{
	size_t at = first_child(tree, parent, from_ns);
	const struct task *child = child_at(tree, parent, &at);

	return child ? child->start_ns : UINT64_MAX;
}

static int note_fork(struct tree *tree, size_t child, const struct tree_fork *fork)
{
	if (!tree->forks)
		tree->forks = calloc(tree->pipe->data->nr_tasks, sizeof(*tree->forks));
	if (!tree->forks)
		return -ENOMEM;
	if (!tree->forks[child].top || fork->is_main)
		tree->forks[child] = *fork;
	return 0;
}

int tree_note_forks(struct tree *tree, uint64_t time_ns)
{
	struct tree_task *at = &tree->at;
	const struct tree_fork fork = {
		.top = at->top,
		.is_main = at->task->tid == at->task->pid,
	};
	size_t i = first_child(tree, at->task, at->fork_ns);

	for (const struct task *child; (child = child_at(tree, at->task, &i)) != NULL; i++) {
		if (child->start_ns > time_ns)
			break;
		if (note_fork(tree, child->index, &fork) < 0)
			return -ENOMEM;
	}
	at->fork_ns = time_ns == UINT64_MAX ? UINT64_MAX
					    : tree_next_fork_ns(tree, at->task, time_ns + 1);
	return 0;
}

int tree_merge_forks(struct tree *tree, const struct tree *from)
{
	for (size_t i = 0; from->forks && i < tree->pipe->data->nr_tasks; i++) {
		const struct tree_fork fork = {
			.top = from->forks[i].top ? from->forks[i].top->last : NULL,
			.is_main = from->forks[i].is_main,
		};

		if (fork.top && note_fork(tree, i, &fork) < 0)
			return -ENOMEM;
	}
	return 0;
}
