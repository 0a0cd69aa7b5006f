/*
 * Trees of callers and callees, one for each program of a recording. Calls with the same call path
 * are added up.
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

/* The shortest and longest times of the calls of a node. */
struct tree_details {
	uint64_t total_min_ns;
	uint64_t total_max_ns;
	uint64_t self_min_ns;
	uint64_t self_max_ns;
};

/*
 * A node stands for all calls that have the same call path. Functions with the same name count as
 * one function.
 *
 * @func: NULL for a root
 * @first, @next: the first child, and the next sibling; tree_finish() sorts children by the times
 *         of their first calls
 * @last, @after: hints for a fast look-up: the child that was called last, and the sibling that was
 *         called after this node
 * @calls: the number of entries, plus the number of returns from calls without an entry. The entry
 *         of such a call was not recorded, or is outside of the time range that the view shows
 * @total_ns: the times of all calls, including recursive ones; if a call is open at the end, its
 *         time until the end counts
 * @first_ns: the start of the first call
 * @addr: the recorded address of the first call; for time off the CPU and for POINTs, the id of the
 *         event
 * @details: only with wants_details
 * @counter: in the node of a function: 0. In the node of a counter (with wants_counters): the
 *         counter's index plus 1
 * @value: in the node of a counter: the counter's growth in the calls of the parent node. In the
 *         node of a function: the result of the last tree_counters_spread()
 * @is_gone: during tree_finish(): the node's numbers were added to another node
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
	struct event out_event; /* the task's last SCHED_OUT event */
	size_t depth;		/* number of calls between the root and @top */
	uint64_t session_ns;	/* the time when the task's next program (session) begins */
	uint64_t fork_ns;	/* the time when task.txt announces the task's next child */
	bool has_call;
};

/*
 * The parent's innermost call at the time when a child was announced. The announcement comes some
 * time after the fork.
 */
struct tree_fork {
	struct tree_node *top; /* NULL: unknown */
	bool is_main;	       /* @top is a call of the parent's first thread */
};

/* A call from which two processes may return, as from fork(2). @pid: the calling process */
struct tree_fork_call {
	int32_t pid;
	uint64_t time_ns;
	struct tree_node *node;
};

/*
 * A tree has at most this number of calls whose entry was not recorded. After lost records, one
 * record of 16 bytes may imply a thousand such calls.
 */
#define TREE_UNSEEN_MAX (1U << 20)

/*
 * A call whose entry was not recorded. Either the call began before the first event of @task, or
 * records were lost. Only the return tells the function's name.
 *
 * @depth: the number of calls around this call
 * @generation: the number of forks that led to @task; set by tree_finish()
 * @is_inherited: this call was open when the task began
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
 * @wants_counters: the growth of counters is added up (tree_node.value); needs @kinds
 * @counts_outside: true: all time off the CPU counts; false: only time off the CPU within
 *         functions counts
 * @counts_inherited: a forked child may return from a call that the parent entered before the fork.
 *         true: the child counts such a call once more; false: only the parent counts such a call
 * @roots: one for each of data->sessions, and at the end one for all tasks without a session
 * @children: forked tasks by parent and time
 * @forks: an element for each forked child, at the index task->index of the child; NULL before the
 *         first fork
 * @pids: during tree_finish(): the pids of the tasks that @pipe reads
 * @slots: a hash table of all nodes, by parent and function; @nr_slots is a power of two
 * @names: maps from a name to the function that represents all functions with this name
 * @canon: for each function, by its id: the function in @names that has the same name
 * @kinds: kinds of events; a POINT becomes a call that takes no time, and the name of the event is
 *         the name of the called function. NULL: POINTs are left out, and counted in @nr_dropped
 * @point_funcs: the functions of POINTs, by the ids of the events
 * @parked: used when the events of each task come in several parts. For each task, by task->index:
 *         the position in the tree that the task has reached. NULL before the first event
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

/* A tree starts with tree_init() and ends with tree_deinit(). @pipe must outlive the tree. */
int tree_init(struct tree *tree, const struct pipeline *pipe, struct uft_err *err);
void tree_deinit(struct tree *tree);
#define cleanup_tree cleanup(tree_deinit)

/* Configure a pipeline for the needs of a tree. Call this function before pipeline_open(). */
void tree_configure(struct pipeline_config *config);

/* Implements events() of struct view (pipeline.h). @self is the struct tree. */
int tree_events(void *self, const struct event_span *span, struct uft_err *err);

/* The function for view.resume. */
int tree_resume(void *self, const struct view_resume *at, struct uft_err *err);

/*
 * Add all nodes of @from to @tree. The events of both trees must be from the same recording, and no
 * event may be in both trees. After this call, only tree_deinit() may be called for @from. Returns
 * 0, or a negative errno with @err.
 */
int tree_merge(struct tree *tree, struct tree *from, struct uft_err *err);

/*
 * Run @pipe, by task, in up to @threads threads, and finish the tree. The tree does not depend on
 * the number of threads.
 */
int tree_run(struct tree *tree, struct pipeline *pipe, size_t threads, struct uft_err *err);

/*
 * Call this function after the last event. The function moves the calls of a forked process below
 * the call that forked this process. Then the function sorts children by time, and sets the total
 * time of each root to the sum of the total times of the root's children. Returns 0, or -ENOMEM
 * with @err.
 */
int tree_finish(struct tree *tree, struct uft_err *err);

/*
 * Copy @from and all nodes below @from. The copy of @from becomes a child of @parent. If @parent
 * has a child with the function of @from, the numbers of @from are added to this child instead.
 * @from may be a node of another finished tree. Returns the child, or NULL when memory is short.
 */
struct tree_node *tree_add_subtree(struct tree *tree, struct tree_node *parent,
				   struct tree_node *from);

/*
 * Sort the children of @root and of all nodes below @root by the start of the first call
 * (@first_ns), as tree_finish() does. Returns 0 or -ENOMEM.
 */
int tree_sort(struct tree_node *root);

/*
 * Like tree_sort(), but in the order of @compare. The arguments of @compare point to pointers to
 * nodes.
 */
int tree_sort_by(struct tree_node *root, int (*compare)(const void *a, const void *b));

/*
 * Copy all nodes below @from, and add the copies below @to. Afterwards, the @last of each node
 * below @from points to the copy of that node, and is not a hint any more. Returns 0 or -ENOMEM.
 */
int tree_add_below(struct tree *tree, struct tree_node *to, struct tree_node *from);

/* Like tree_child(), but @func may be from any recording, because only its name is used. */
struct tree_node *tree_child_named(struct tree *tree, struct tree_node *node,
				   const struct func *func);

/*
 * Returns the child of @node for calls of @func. A missing child is added. Returns NULL when memory
 * is short.
 */
struct tree_node *tree_child(struct tree *tree, struct tree_node *node, const struct func *func);

/*
 * Returns the function that represents all functions with the name of @func, or NULL when memory is
 * short.
 */
const struct func *tree_canon(struct tree *tree, const struct func *func);

/* @ns is a sum of times. Returns the sum, or 0 if the sum is negative. */
static inline uint64_t tree_positive(uint64_t ns)
{
	return (int64_t)ns < 0 ? 0 : ns;
}

/* Returns the session of tree->roots[@root], or NULL for the root of calls without a session. */
static inline const struct session *tree_session(const struct tree *tree, size_t root)
{
	const struct trace_data *data = tree->pipe->data;

	return root < data->nr_sessions ? data->sessions[root] : NULL;
}

/*
 * Returns the node after @node in a walk through @top and all nodes below it, or NULL at the end.
 * Callers come before callees. The walk is not recursive, because paths can be long.
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
