/* The nodes of a call tree: making and finding them. Private to utils/view/tree*.c. */
#ifndef UTRAIL_VIEW_TREE_NODES_H
#define UTRAIL_VIEW_TREE_NODES_H

#include "utils/view/tree.h"

/* A node without a function, which nobody finds. NULL when memory is short. */
struct tree_node *tree_add_nameless(struct tree *tree, struct tree_node *parent);

/* What @from counted, to @to; without their children. */
void tree_add_numbers(struct tree_node *to, const struct tree_node *from);

/*
 * @node is found from now on as the child of @parent for its function, if there is none yet; where
 * it was found before, it is not any more. Lists of children are the caller's business.
 * The child that is found, or NULL when memory is short.
 */
struct tree_node *tree_enlist(struct tree *tree, struct tree_node *parent, struct tree_node *node);

/* All calls that were entered unseen are put where they belong; no more events come. 0 or -ENOMEM */
int tree_settle(struct tree *tree);

#endif
