/*
 * Calls added up by call path: a tree of callers and callees, one for each program of a recording.
 */
#ifndef UTRAIL_VIEW_TREE_H
#define UTRAIL_VIEW_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/containers/intmap.h"
#include "utils/base/containers/strmap.h"
#include "utils/pipeline/kinds/event_kinds.h"
#include "utils/pipeline/pipeline.h"

/* Numbers over the single calls of a node. */
struct tree_details {
	uint64_t total_min_ns;
	uint64_t total_max_ns;
	uint64_t self_min_ns;
	uint64_t self_max_ns;
};

/*
 * All calls of a function by the same path. Functions with the same name are one here.
 *
 * @func: NULL for a root
 * @first, @next: the first child, and the next one of the same parent; once tree_finish() has run
 *                in the order of their first calls
 * @last, @after: hints for a fast look-up of children: the child called last, and the
 *                sibling called after this one
 * @calls: entries, and returns from calls whose entry is not in the range
 * @total_ns: the time of all calls, also of recursive ones: up to the return, or up to the end if a
 *            call is open then
 * @first_ns: start of the first call
 * @addr: the recorded address of the first call; an id for events of the scheduler
 * @details: only with wants_details
 * @counter: 0: the node is a function, and tree_counters_spread() sets @value. Otherwise (with
 *           wants_counters) the node is a counter: @counter is the counter's place plus 1, and
 *           @value is its growth in the calls of the parent node
 * @is_gone: within tree_finish(): its numbers are with another node
 */
struct tree_node {
	const struct func *func;
	struct tree_node *parent;
	struct tree_node *first;
	struct tree_node *next;
	struct tree_node *last;
	struct tree_node *after;
	uint64_t calls;
	uint64_t total_ns;
	uint64_t self_ns;
	uint64_t first_ns;
	uint64_t addr;
	struct tree_details *details;
	uint64_t value;
	uint32_t counter;
	bool is_gone;
};

/* The task whose events are being added. */
struct tree_task {
	const struct task *task;
	struct tree_node *root;
	struct tree_node *top;	/* the innermost call, or the root */
	struct tree_node *out;	/* the innermost call when the task went off the CPU, or NULL */
	struct event out_event; /* the event when it went off the CPU */
	size_t depth;		/* calls between the root and @top */
	uint64_t session_ns;	/* when the next session begins */
	uint64_t fork_ns;	/* when the next child is forked */
	bool has_call;
};

/*
 * The call that was open in the parent's tree when a child was announced, some time after the fork.
 */
struct tree_fork {
	struct tree_node *top; /* NULL: unknown */
	bool is_main;	       /* the first thread of the parent had it open */
};

/* A call from which a forked child may also return. @node is in the tree of @pid. */
struct tree_fork_call {
	int32_t pid;
	uint64_t time_ns;
	struct tree_node *node;
};

/*
 * The limit of struct tree_unseen in a tree. After each loss, one record of 16 bytes may imply a
 * thousand of them.
 */
#define TREE_UNSEEN_MAX (1U << 20)

/*
 * A call that was open before the first event of @task, or before records that were lost. It has a
 * name once it returns.
 *
 * @depth: the number of calls around it
 * @generation: the number of forks that have made its task, once tree_finish() runs
 * @is_inherited: it was open when the task began
 */
struct tree_unseen {
	const struct task *task;
	struct tree_node *node;
	size_t depth;
	unsigned generation;
	bool is_inherited;
};

/*
 * @wants_details: set it before the first event
 * @wants_counters: with @kinds: nodes have the growth of counters
 * @counts_outside: time off the CPU outside of functions too
 * @counts_inherited: when a forked child also returns from a call that its parent made, the call
 *                    counts for both
 * @roots: by session, in the order of data->sessions, and one more for recordings without sessions
 * @children: forked tasks by parent and time
 * @forks: by the index of the child; NULL before the first
 * @pids: processes whose tasks were processed, during tree_finish()
 * @slots: all nodes by parent and function; a power of two
 * @names: the function that represents all of its name
 * @canon: the same, by function id
 * @kinds: points are calls that take no time, of functions called like them; NULL: they are counted
 *         in @nr_dropped and left out
 * @point_funcs: the functions of points, by id
 * @parked: by task->index: the positions of tasks that come in parts, from one part to the next;
 *          NULL before the first
 */
struct tree {
	const struct pipeline *pipe;
	bool wants_details;
	bool wants_counters;
	bool counts_outside;
	bool counts_inherited;
	struct tree_node **roots;
	size_t nr_roots;
	struct tree_node **slots;
	size_t nr_slots;
	size_t nr_nodes;
	struct strmap names;
	const struct func **canon;
	size_t nr_canon;
	struct tree_block *blocks;
	struct tree_task at;
	struct tree_task *parked;
	const struct task **children;
	size_t nr_children;
	struct tree_fork *forks;
	struct intmap pids;
	struct tree_fork_call *fork_calls;
	size_t nr_fork_calls;
	struct tree_unseen *unseen;
	size_t nr_unseen;
	struct event_kinds *kinds;
	struct intmap point_funcs;
	uint64_t nr_dropped;
};

/* @pipe must outlive the tree. Starts with tree_init(), ends with tree_deinit(). */
int tree_init(struct tree *tree, const struct pipeline *pipe, struct uft_err *err);
void tree_deinit(struct tree *tree);
#define cleanup_tree cleanup(tree_deinit)

/* Configure the pipeline, before it is opened, for the needs of a tree. */
void tree_configure(struct pipeline_config *config);

/* The events function of struct view; @self is the struct tree. */
int tree_events(void *self, const struct event_span *span, struct uft_err *err);

/* The resume function of struct view. */
int tree_resume(void *self, const struct view_resume *at, struct uft_err *err);

/*
 * Add all of @from, which got other events of the same data. Only tree_deinit() may be called for
 * @from afterwards. Returns 0 or -ENOMEM with @err.
 */
int tree_merge(struct tree *tree, struct tree *from, struct uft_err *err);

/*
 * Run @pipe, by task, in up to @threads threads, and finish the tree. The tree does not depend on
 * the number of threads.
 */
int tree_run(struct tree *tree, struct pipeline *pipe, size_t threads, struct uft_err *err);

/*
 * Call this after the last event. It moves calls of forked children to the fork in their parents,
 * sorts the children of each node by time, and sums up the roots. 0 or -ENOMEM with @err.
 */
int tree_finish(struct tree *tree, struct uft_err *err);

/*
 * Add @from and all nodes below it as a child of @parent. @from may be in another finished tree.
 * Returns the child, or NULL when memory is short.
 */
struct tree_node *tree_add_subtree(struct tree *tree, struct tree_node *parent,
				   struct tree_node *from);

/* Sort the children of all nodes by time; tree_finish() has done so. 0 or -ENOMEM. */
int tree_sort(struct tree_node *root);

/* Sort in the order of @compare, which gets pointers to two pointers to nodes. */
int tree_sort_by(struct tree_node *root, int (*compare)(const void *a, const void *b));

/*
 * Add all nodes below @from below @to. Afterwards @last of each old node refers to its new node,
 * since @last is not needed as a hint any more. Returns 0 or -ENOMEM.
 */
int tree_add_below(struct tree *tree, struct tree_node *to, struct tree_node *from);

/* Like tree_child() for a function of any recording: only its name counts. */
struct tree_node *tree_child_named(struct tree *tree, struct tree_node *node,
				   const struct func *func);

/*
 * Returns the child of @node with that function, or NULL when memory is short. A missing child is
 * made.
 */
struct tree_node *tree_child(struct tree *tree, struct tree_node *node, const struct func *func);

/* Returns the function that represents all with the name of @func, or NULL when memory is short. */
const struct func *tree_canon(struct tree *tree, const struct func *func);

/*
 * Returns the node after @node in a walk through all of @top, callers before callees, or NULL at
 * the end. There is no recursion, since paths can be long.
 */
static inline struct tree_node *tree_next(const struct tree_node *node, const struct tree_node *top)
{
	if (node->first)
		return node->first;
	while (node != top && !node->next)
		node = node->parent;
	return node == top ? NULL : node->next;
}

#endif
