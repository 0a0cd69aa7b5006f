/*
 * Shows the call graph of a program, or of one function with its callers, as lines that can be
 * folded.
 */
#ifndef UTRAIL_CMDS_TUI_GRAPH_VIEW_H
#define UTRAIL_CMDS_TUI_GRAPH_VIEW_H

#include "cmds/tui/view.h"
#include "utils/view/graph/graph.h"

/* The kind of a struct graph_item. */
enum graph_item_kind {
	GRAPH_CALL,
	GRAPH_TEXT,   /* the line is @text */
	GRAPH_HIDDEN, /* not shown itself; the items below it are shown */
};

/*
 * An item of the tree: a line, or an invisible parent of lines. Each item is followed by its
 * descendants.
 *
 * @node: the line shows the numbers of this node
 * @func: the line shows the name of this function
 * @end: the index of the first item after this item and its descendants
 * @parent: the index of the parent item. A GRAPH_HIDDEN item has no parent, and its @parent is its
 *          own index
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
 * Starts as { 0 }, is made by graph_view_program() or graph_view_func(), and ends with
 * graph_view_deinit().
 *
 * @graph: the options and the chosen columns; borrowed
 * @program: the name of the root
 * @shown: the item of each line; GRAPH_GAP marks the empty line before an item
 * @is_utf8: branches are drawn with characters outside of ASCII
 * @title: the heading of a function's graph; on the heap
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

/*
 * Show the call graph of the whole program. @root is the root of this graph. Returns 0 or -ENOMEM
 * with @err.
 */
int graph_view_program(struct graph_view *view, const struct tree_node *root, const char *program,
		       struct uft_err *err);

/*
 * Show the function @name. Returns 0 or -ENOMEM with @err.
 *
 * @whole: the view of the whole program, which contains the paths to the function
 * @sum: the root of a tree that graph_add_calls() has made from the calls to @name. The root has a
 *       child for each function of this name
 */
int graph_view_func(struct graph_view *view, const struct graph_view *whole,
		    const struct tree_node *sum, const char *name, struct uft_err *err);

/*
 * Take over the folds, the cursor and the screen position of @before. The view @before was made
 * when the same recording had fewer calls. Returns 0 or -ENOMEM with @err.
 */
int graph_view_carry(struct graph_view *view, const struct graph_view *before, struct uft_err *err);
void graph_view_deinit(struct graph_view *view);

#endif
