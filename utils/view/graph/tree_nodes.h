/* The nodes of a call tree. Private to utils/view/graph/tree*.c. */
#ifndef UTRAIL_VIEW_TREE_NODES_H
#define UTRAIL_VIEW_TREE_NODES_H

#include "utils/view/graph/tree.h"

/*
 * Add a node that look-ups do not find: a root (@parent is NULL), or a node that has no function.
 * Returns NULL when memory is short.
 */
struct tree_node *tree_add_nameless(struct tree *tree, struct tree_node *parent);

/* Add the numbers of @from (calls, times) to those of @to. The children of @to are unchanged. */
void tree_add_numbers(struct tree_node *to, const struct tree_node *from);

/*
 * Enter @node in the hash table of children (tree->slots). The key of a child is its parent and its
 * function: here @parent and the function of @node. If the table already has a child with this key,
 * @node is not entered. Returns the child with this key, or NULL when memory is short. The caller
 * updates the lists of children.
 */
struct tree_node *tree_enlist(struct tree *tree, struct tree_node *parent, struct tree_node *node);

/* Find the tasks that each process has forked, for tree_init(). Returns 0 or -ENOMEM. */
int tree_find_children(struct tree *tree);

/*
 * Returns the start time (task.start_ns) of the first child process of @parent that started at
 * @from_ns or later. Returns UINT64_MAX if there is no such child process.
 */
uint64_t tree_next_fork_ns(const struct tree *tree, const struct task *parent, uint64_t from_ns);

/*
 * For each child process with a start time (task.start_ns) up to @time_ns, store the call that
 * forked the child: the innermost call of the current task (tree->at). Returns 0 or -ENOMEM.
 *
 * A recording does not tell which thread of the parent process has forked. So this function is
 * called for each thread of the parent, and may find several calls for one child. The call of the
 * parent's first thread replaces the calls of other threads.
 */
int tree_note_forks(struct tree *tree, uint64_t time_ns);

/*
 * Add to @tree the forks that tree_note_forks() has stored in @from. The nodes of @from must
 * already be in @tree. Returns 0 or -ENOMEM.
 */
int tree_merge_forks(struct tree *tree, const struct tree *from);

/*
 * Set the error for nodes that cannot be added. Returns @code: -EFBIG (too many calls without a
 * recorded entry) or -ENOMEM.
 */
int tree_no_room(int code, struct uft_err *err);

/*
 * Calls whose entries were not recorded have nodes of their own. Move each such call to the node to
 * which the call belongs. Called after the last event. Returns 0 or -ENOMEM.
 */
int tree_settle(struct tree *tree);

#endif
