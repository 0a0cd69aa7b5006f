/*
 * The calls of a task as a tree of contexts: a node is a function, called from the node above. A
 * call is one number then (as in utils/export/page/data/context_tree.js).
 */
#ifndef UTRAIL_CMDS_SHOW_CONTEXTS_H
#define UTRAIL_CMDS_SHOW_CONTEXTS_H

#include <stddef.h>
#include <stdint.h>

/* @last: the child that was called last, which is a good guess, or 0 */
struct context {
	uint32_t func; /* a number of the caller's */
	uint32_t parent;
	uint32_t last;
	uint16_t depth; /* of the outermost functions 0 */
};

/*
 * Node 0 is above all others and no function. Starts as zeros, ends with contexts_deinit().
 *
 * @slots: nodes by parent and function; a power of two
 */
struct contexts {
	struct context *nodes;
	size_t nr;
	size_t cap;
	uint32_t *slots;
	size_t nr_slots;
};

void contexts_deinit(struct contexts *contexts);

/* The node of @func called from @parent, made if it is new; 0 when memory is short. */
uint32_t contexts_child(struct contexts *contexts, uint32_t parent, uint32_t func);

#endif
