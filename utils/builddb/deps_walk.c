/* Walks along dependencies (see deps_walk.h). */
#include "utils/builddb/deps_walk.h"

#include <errno.h>
#include <stdlib.h>

#include "utils/base/compiler.h"
#include "utils/base/containers/vec.h"

/*
 * Costs that are passed to files_spend(). FOLLOW_COST: a step to another node. HEAP_COST: adding a
 * node to the heap; the later removal of the node is included.
 */
#define FOLLOW_COST 2
#define HEAP_COST   16

/*
 * A planned visit of a node, in walk->heap. A node is the content of a file, or an execution.
 *
 * @key: the result of key_of(); the visit with the smallest key comes first
 * @node: the index of the content, or the index of the execution plus the number of contents
 * @is_start: the walk begins at this node
 */
struct deps_step {
	uint64_t key;
	uint32_t node;
	bool is_start;
};

int deps_walk_init(struct deps_walk *walk, const struct executions *executions, struct files *files)
{
	*walk = (struct deps_walk){ .executions = executions, .files = files };
	if (files->nr_contents + executions->nr >= UINT32_MAX)
		return -ENOMEM;
	walk->seen = calloc(files->nr_contents + executions->nr + 1, sizeof(*walk->seen));
	walk->reached = calloc(files->nr_contents + 1, sizeof(*walk->reached));
	return walk->seen && walk->reached ? 0 : -ENOMEM;
}

void deps_walk_deinit(struct deps_walk *walk)
{
	free(walk->seen);
	free(walk->reached);
	free(walk->heap);
	*walk = (struct deps_walk){ 0 };
}

void deps_walk_begin(struct deps_walk *walk)
{
	walk->round++;
	walk->nr_reached = 0;
	walk->nr_heap = 0;
}

/*
 * Returns the key for a time, or the time for a key. The earliest time comes first in a walk
 * forwards, the latest in a walk backwards.
 */
static uint64_t key_of(const struct deps_walk *walk, uint64_t ns)
{
	return walk->is_forward ? ns : ~ns;
}

static int push_deps_step(struct deps_walk *walk, uint32_t node, uint64_t ns, bool is_start)
{
	uint64_t key = key_of(walk, ns);
	struct deps_step *heap;
	size_t at;

	if (walk->seen[node] == walk->round)
		return 0;
	if (files_spend(walk->files, HEAP_COST) < 0)
		return -EDQUOT;
	heap = vec_room(walk->heap, walk->nr_heap, &walk->cap_heap, sizeof(*heap));
	if (!heap)
		return -ENOMEM;
	walk->heap = heap;
	for (at = walk->nr_heap++; at && heap[(at - 1) / 2].key > key; at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = (struct deps_step){ key, node, is_start };
	return 0;
}

static struct deps_step pop_deps_step(struct deps_walk *walk)
{
	struct deps_step *heap = walk->heap;
	struct deps_step first = heap[0];
	struct deps_step last = heap[--walk->nr_heap];
	size_t at = 0;
	size_t child;

	while ((child = 2 * at + 1) < walk->nr_heap) {
		if (child + 1 < walk->nr_heap && heap[child + 1].key < heap[child].key)
			child++;
		if (heap[child].key >= last.key)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}

/*
 * Walk to @node from a node that is visited at @ns. The two nodes are connected by a use of a file,
 * or as parent and child, from @begin_ns to @end_ns.
 */
static int walk_use(struct deps_walk *walk, uint32_t node, uint64_t ns, uint64_t begin_ns,
		    uint64_t end_ns)
{
	if (files_spend(walk->files, FOLLOW_COST) < 0)
		return -EDQUOT;
	if (begin_ns == UINT64_MAX)
		return 0;
	if (walk->is_forward)
		return end_ns > ns ? push_deps_step(walk, node, MAX(ns, begin_ns), false) : 0;
	return begin_ns < ns ? push_deps_step(walk, node, MIN(ns, end_ns), false) : 0;
}

static uint32_t node_of(const struct deps_walk *walk, size_t execution)
{
	return walk->files->nr_contents + execution;
}

static int step_content(struct deps_walk *walk, uint32_t content, uint64_t ns, bool is_start)
{
	const struct files *files = walk->files;
	int ret = 0;

	walk->reached[walk->nr_reached++] = content;
	if (walk->stops_at_files && !is_start && files_is_left(files, content))
		return 0;
	for (uint32_t at = files->contents[content].first_use; at != FILES_NONE && ret == 0;
	     at = files->uses[at].next_of_content) {
		const struct file_use *use = &files->uses[at];

		ret = walk_use(walk, node_of(walk, use->execution), ns,
			       walk->is_forward ? use->read_ns : use->write_ns, use->close_ns);
	}
	return ret;
}

/*
 * Walk from a parent to its forked children, or from a child to its parent. A child depends on its
 * parent, because the child has the parent's memory until the child calls execve(2).
 */
static int step_family(struct deps_walk *walk, size_t at, uint64_t ns)
{
	const struct execution *all = walk->executions->all;
	size_t child = all[at].first_child;
	int ret = 0;

	if (!walk->is_forward) {
		if (all[at].index || all[at].parent == EXECUTION_NONE)
			return 0;
		return walk_use(walk, node_of(walk, all[at].parent), ns,
				all[all[at].parent].start_ns, all[at].start_ns);
	}
	for (; child != EXECUTION_NONE && ret == 0; child = all[child].next_child)
		ret = walk_use(walk, node_of(walk, child), ns, all[child].start_ns,
			       all[child].start_ns);
	return ret;
}

static int step_execution(struct deps_walk *walk, size_t execution, uint64_t ns)
{
	const struct files *files = walk->files;
	int ret = step_family(walk, execution, ns);

	for (uint32_t at = files_first_use(files, execution); at != FILES_NONE && ret == 0;
	     at = files->uses[at].next_of_execution) {
		const struct file_use *use = &files->uses[at];

		if (files->contents[use->content].kind != CONTENT_OTHER)
			ret = walk_use(walk, use->content, ns,
				       walk->is_forward ? use->write_ns : use->read_ns,
				       use->close_ns);
	}
	return ret;
}

int deps_walk_from_content(struct deps_walk *walk, uint32_t content)
{
	return push_deps_step(walk, content, walk->is_forward ? 0 : UINT64_MAX, true);
}

int deps_walk_from_execution(struct deps_walk *walk, size_t execution)
{
	return push_deps_step(walk, node_of(walk, execution), walk->is_forward ? 0 : UINT64_MAX,
			      true);
}

int deps_walk_go(struct deps_walk *walk)
{
	int ret = 0;

	while (walk->nr_heap && ret == 0) {
		struct deps_step step = pop_deps_step(walk);
		uint64_t ns = key_of(walk, step.key);

		if (walk->seen[step.node] == walk->round)
			continue;
		walk->seen[step.node] = walk->round;
		ret = step.node < walk->files->nr_contents
			      ? step_content(walk, step.node, ns, step.is_start)
			      : step_execution(walk, step.node - walk->files->nr_contents, ns);
	}
	return ret;
}
