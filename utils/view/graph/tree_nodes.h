/* The nodes of a call tree: making and finding them. Private to utils/view/graph/tree*.c. */
#ifndef UTRAIL_VIEW_TREE_NODES_H
#define UTRAIL_VIEW_TREE_NODES_H

#include "utils/view/graph/tree.h"

/* Add a node without a function, which look-ups do not find. Returns NULL when memory is short. */
struct tree_node *tree_add_nameless(struct tree *tree, struct tree_node *parent);

/* Add the numbers of @from to @to, without those of their children. */
void tree_add_numbers(struct tree_node *to, const struct tree_node *from);

/*
 * From now on, @node is found as the child of @parent for its function, unless @parent has such a
 * child already. It is not found at its old place any more. The caller updates lists of children.
 * Returns the child that is found, or NULL when memory is short.
 */
struct tree_node *tree_enlist(struct tree *tree, struct tree_node *parent, struct tree_node *node);

/* Find the tasks that each task has forked; tree_init() asks for it. 0 or -ENOMEM */
int tree_find_children(struct tree *tree);

/*
 * Returns the time when the next child of @parent was announced, at @from_ns or later, or
 * UINT64_MAX.
 */
uint64_t tree_next_fork_ns(const struct tree *tree, const struct task *parent, uint64_t from_ns);

/*
 * Children forked up to @time_ns began at the task's current position. A recording does not tell
 * which thread of a process has forked: each thread records its position, and the first one has
 * priority.
 */
int tree_note_forks(struct tree *tree, uint64_t time_ns);

/* Take over the notes of @from, after its nodes were added to @tree. 0 or -ENOMEM */
int tree_merge_forks(struct tree *tree, const struct tree *from);

/*
 * Set the error for nodes that cannot be added. Returns @code: -EFBIG (too many calls without a
 * recorded entry) or -ENOMEM.
 */
int tree_no_room(int code, struct uft_err *err);

/* Move all calls without recorded entries to their places; no more events come. 0 or -ENOMEM */
int tree_settle(struct tree *tree);

#endif
