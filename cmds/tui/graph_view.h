/* The call graph of a program, or of one function with its callers, as lines to fold. */
#ifndef UTRAIL_CMDS_TUI_GRAPH_VIEW_H
#define UTRAIL_CMDS_TUI_GRAPH_VIEW_H

#include "cmds/tui/view.h"
#include "utils/view/graph/graph.h"

/* A line, or the root of several, which is none itself. */
enum graph_item_kind {
	GRAPH_CALL,
	GRAPH_TEXT,   /* @text stands there */
	GRAPH_HIDDEN, /* not shown itself, only the items below it */
};

/*
 * A line of the tree, in the order of a walk from callers to callees.
 *
 * @node: it shows the numbers of this node
 * @func: and the name of this function
 * @end: the index of the first item that is not below this one
 * @parent: the index of the item that it is below, itself for the first
 */
struct graph_item {
	const struct tree_node *node;
	const struct func *func;
	const char *text;
	uint32_t end;
	uint32_t parent;
	uint8_t kind;
	bool is_folded;
};

/*
 * Starts as { 0 } with graph_view_program() or graph_view_func(), ends with graph_view_deinit().
 *
 * @graph: the columns; borrowed
 * @program: the name of the root
 * @shown: the items on lines, in their order; one with GRAPH_GAP is the line above it
 * @is_utf8: branches are drawn with characters that ASCII has not
 * @title: of a function's graph; on the heap
 */
struct graph_view {
	struct tui_view view;
	const struct graph *graph;
	struct module_set *modules;
	const struct session *session;
	const char *program;
	struct graph_item *items;
	uint32_t nr_items;
	uint32_t *shown;
	size_t nr_shown;
	bool is_utf8;
	char *title;
};

/* Show the whole program below @root. Returns 0 or -ENOMEM with @err. */
int graph_view_program(struct graph_view *view, const struct tree_node *root, const char *program,
		       struct uft_err *err);

/*
 * The function called @name: the paths to it in @whole, and its calls below, which are those of
 * @sum, where graph_add_calls() has put them. 0 or -ENOMEM with @err.
 */
int graph_view_func(struct graph_view *view, const struct graph_view *whole,
		    const struct tree_node *sum, const char *name, struct uft_err *err);

/*
 * Take the folds, the cursor and the place on the screen of @before, which shows the same of less
 * of the recording. 0 or -ENOMEM with @err.
 */
int graph_view_carry(struct graph_view *view, const struct graph_view *before, struct uft_err *err);
void graph_view_deinit(struct graph_view *view);

/* Unfold the lines around the first call of @func, and go there; false: there is none. */
bool graph_view_go(struct graph_view *view, const struct func *func, size_t rows);

#endif
