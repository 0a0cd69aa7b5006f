/*
 * The contexts of a task's calls, as a tree. Each node is a function that the parent node calls. A
 * call is stored as the number of its node, as in utils/export/page/data/context_tree.js.
 */
#ifndef UTRAIL_CMDS_SHOW_CONTEXTS_H
#define UTRAIL_CMDS_SHOW_CONTEXTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * A node.
 *
 * @last: the child that was called last, or 0. The node will probably call this child again, so a
 *        search for a child begins with @last
 */
struct context {
	uint32_t func; /* the function's number, from contexts_child() */
	uint32_t parent;
	uint32_t last;
	uint16_t depth; /* 0 for the outermost functions */
};

/*
 * The tree. Starts as zeros and ends with contexts_deinit(). Node 0 is the root, which has no
 * function.
 *
 * @slots: a hash table of nodes by parent and function; its size is a power of two
 */
struct contexts {
	struct context *nodes;
	size_t nr;
	size_t cap;
	uint32_t *slots;
	size_t nr_slots;
};

void contexts_deinit(struct contexts *contexts);

/*
 * Returns the node of @func called from @parent. Makes the node if it does not exist yet. Returns 0
 * when there is not enough memory.
 */
uint32_t contexts_child(struct contexts *contexts, uint32_t parent, uint32_t func);

#endif
