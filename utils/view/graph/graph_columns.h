/*
 * The columns that `utrail graph` shows in front of functions (graph_func_table) or in front of
 * tasks (graph_task_table). Private to utils/view/graph/graph*.c and cmds/tui.
 */
#ifndef UTRAIL_VIEW_GRAPH_COLUMNS_H
#define UTRAIL_VIEW_GRAPH_COLUMNS_H

#include "utils/view/graph/graph.h"

/* The subject of a row: a node of the tree, or a task. */
struct graph_row {
	const struct tree_node *node;
	const struct task *task;
	const struct task_times *times;
};

struct graph_column {
	struct column column;
	void (*put)(const struct graph_row *row, enum color_mode color, struct sink *sink);
	bool needs_details;
};

struct graph_table {
	const struct graph_column *columns;
	size_t nr;
	const char *name_header;
};

extern const struct graph_table graph_func_table;
extern const struct graph_table graph_task_table;

/*
 * Find the nodes below @root whose function has the name @func. Add these nodes, with all nodes
 * below them, to @sum. Several functions can have this name, and @sum gets one node for each of
 * these functions. A found node below another found node is not added a second time. Returns 0 or
 * -ENOMEM.
 */
int graph_add_calls(struct tree *sum, struct tree_node *root, const char *func);

const struct graph_table *graph_table_of(const struct graph *graph);

/*
 * Write the headers of the columns ("  TOTAL TIME"). A header has the width of its column. Two
 * blanks precede each header.
 */
void graph_put_titles(const struct graph *graph, struct sink *sink);

/* Write a line like "# TOTAL TIME   FUNCTION". If @graph has no columns, write nothing. */
void graph_put_header(const struct graph *graph, struct sink *sink);

/* Write the cells of @row. If @row is NULL, write blanks of the same width. */
void graph_put_fields(const struct graph *graph, const struct graph_row *row, struct sink *sink);

/* Write the cells as graph_put_fields() does, and then the " : " that precedes the tree. */
void graph_put_cells(const struct graph *graph, const struct graph_row *row, struct sink *sink);

#endif
