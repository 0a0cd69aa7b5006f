/* View: call trees of programs and of functions (see graph.h). */
#include "utils/view/graph/graph.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/vec.h"
#include "utils/view/graph/graph_columns.h"
#include "utils/view/source_line.h"
#include "utils/view/texts.h"
#include "utils/view/values/titles.h"

int graph_init(struct graph *graph, const struct graph_config *config, struct uft_err *err)
{
	*graph = (struct graph){ .config = *config };

	const struct graph_table *table = graph_table_of(graph);

	return columns_choose(table->columns, table->nr, sizeof(*table->columns), config->fields,
			      &graph->columns, err);
}

void graph_prepare(const struct graph *graph, struct tree *tree)
{
	const struct graph_table *table = graph_table_of(graph);

	for (size_t i = 0; i < graph->columns.nr; i++)
		tree->wants_details |= table->columns[graph->columns.columns[i]].needs_details;
}

static bool has_siblings(const struct tree_node *node)
{
	return node->parent->first != node || node->next;
}

static void put_node(const struct tree_node *node, const char *name, struct sink *sink)
{
	sink_putf(sink, "(%llu) ", (unsigned long long)node->calls);
	sink_str(sink, name);
}

/* Write the line between two children of the same caller. */
static void put_gap(const struct graph *graph, const struct strbuf *indent, struct sink *sink)
{
	graph_put_cells(graph, NULL, sink);
	sink_put_made(sink, indent);
	sink_lit(sink, " | \n");
}

static void put_line(const struct graph *graph, const struct tree_node *node,
		     const struct strbuf *indent, struct sink *sink)
{
	const struct graph_row row = { .node = node };

	graph_put_cells(graph, &row, sink);
	sink_put_made(sink, indent);
	if (has_siblings(node))
		sink_lit(sink, " +-");
	put_node(node, node->func->name, sink);
	if (graph->config.source)
		source_line_put(graph->config.source, node->func, graph->config.color, " [", "]",
				sink);
	sink_lit(sink, "\n");
}

/*
 * Write all nodes below @top. If a call has siblings, the calls below it are indented by three
 * columns.
 */
static int put_below(const struct graph *graph, const struct tree_node *top, struct sink *sink)
{
	struct strbuf indent cleanup_strbuf = { 0 };
	unsigned depth_max = graph->config.depth ? graph->config.depth : UINT_MAX;
	unsigned depth = 2;
	const struct tree_node *node = depth <= depth_max ? top->first : NULL;

	while (node) {
		put_line(graph, node, &indent, sink);
		if (node->first && depth < depth_max) {
			depth++;
			if (has_siblings(node))
				strbuf_addstr(&indent, node->next ? " | " : "   ");
			node = node->first;
			continue;
		}
		while (node != top && !node->next) {
			node = node->parent;
			depth--;
			if (node != top && has_siblings(node))
				strbuf_cut(&indent, indent.len - strlen(" | "));
		}
		if (node == top)
			break;
		put_gap(graph, &indent, sink);
		node = node->next;
	}
	return strbuf_oom(&indent) ? -ENOMEM : sink->failed;
}

static int put_tree(const struct graph *graph, const struct tree_node *top, const char *name,
		    struct sink *sink)
{
	const struct graph_row row = { .node = top };

	sink_lit(sink, "========== FUNCTION CALL GRAPH ==========\n");
	graph_put_header(graph, sink);
	graph_put_cells(graph, &row, sink);
	put_node(top, name, sink);
	sink_lit(sink, "\n");

	int ret = put_below(graph, top, sink);

	sink_lit(sink, "\n");
	return ret;
}

static void put_title(const char *name, const struct session *session, struct sink *sink)
{
	sink_lit(sink, "# Function Call Graph for '");
	sink_str(sink, name);
	sink_lit(sink, "' (session: ");
	sink_str(sink, session ? session->sid : "none");
	sink_lit(sink, ")\n");
}

static int show_program(const struct graph *graph, const struct session *session,
			const struct tree_node *root, struct sink *sink)
{
	const char *name = title_program(session);

	put_title(name, session, sink);
	return put_tree(graph, root, name, sink);
}

/*
 * The calls of all functions that have the same name. A call is left out if it began while another
 * of these calls was open.
 */
struct occurrences {
	struct tree_node **nodes;
	size_t nr;
};

static int find_occurrences(struct tree_node *root, const char *name, struct occurrences *found)
{
	struct tree_node *node = root->first;

	while (node) {
		bool is_one = func_is_called(node->func, name);

		if (is_one) {
			struct tree_node **nodes = vec_grow(found->nodes, found->nr,
							    sizeof(struct tree_node *));

			if (!nodes)
				return -ENOMEM;
			found->nodes = nodes;
			nodes[found->nr++] = node;
		}
		if (node->first && !is_one) {
			node = node->first;
			continue;
		}
		while (node != root && !node->next)
			node = node->parent;
		node = node == root ? NULL : node->next;
	}
	return 0;
}

int graph_add_calls(struct tree *sum, struct tree_node *root, const char *func)
{
	struct occurrences found = { 0 };
	int ret = find_occurrences(root, func, &found);

	for (size_t i = 0; ret == 0 && i < found.nr; i++)
		ret = tree_add_subtree(sum, sum->roots[0], found.nodes[i]) ? 0 : -ENOMEM;
	free(found.nodes);
	return ret;
}

static int compare_newest(const void *a, const void *b)
{
	const struct tree_node *x = *(struct tree_node *const *)a;
	const struct tree_node *y = *(struct tree_node *const *)b;

	return x->first_ns > y->first_ns ? -1 : x->first_ns < y->first_ns;
}

static int put_path(const struct tree_node *node, struct sink *sink)
{
	size_t depth = 0;

	for (const struct tree_node *at = node; at->parent; at = at->parent)
		depth++;

	const struct tree_node **path cleanup_free = calloc(depth, sizeof(struct tree_node *));

	if (!path)
		return -ENOMEM;
	for (size_t i = depth; i-- > 0; node = node->parent)
		path[i] = node;
	for (size_t i = 0; i < depth; i++) {
		sink_putf(sink, "   [%zu] ", i);
		sink_func(sink, path[i]->func);
		sink_putf(sink, " (%#llx)\n", (unsigned long long)path[i]->addr);
	}
	return 0;
}

static int put_backtraces(const struct graph *graph, const struct occurrences *found,
			  struct sink *sink)
{
	int ret = 0;

	sink_lit(sink, "=============== BACKTRACE ===============\n");
	for (size_t i = 0; ret == 0 && i < found->nr; i++) {
		const struct tree_node *node = found->nodes[i];

		sink_putf(sink, " backtrace #%zu: hit %llu, time ", i,
			  (unsigned long long)node->calls);
		sink_time(sink, time_abs(node->total_ns), graph->config.color);
		sink_lit(sink, "\n");
		ret = put_path(node, sink);
		sink_lit(sink, "\n");
	}
	return ret;
}

/*
 * Show one tree for each function that has the name config.func. Each tree sums up all calls of its
 * function. Several functions may have the same short name, such as "m::f" in two crates.
 */
static int show_subtree(const struct graph *graph, const struct tree *tree,
			const struct occurrences *found, struct sink *sink)
{
	struct tree sum cleanup_tree = { 0 };
	int ret = tree_init(&sum, tree->pipe, NULL);

	sum.wants_details = tree->wants_details;
	for (size_t i = 0; ret == 0 && i < found->nr; i++)
		ret = tree_add_subtree(&sum, sum.roots[0], found->nodes[i]) ? 0 : -ENOMEM;
	if (ret == 0)
		ret = tree_sort(sum.roots[0]);

	const struct tree_node *top = ret == 0 ? sum.roots[0]->first : NULL;

	for (; ret == 0 && top; top = top->next)
		ret = put_tree(graph, top, top->func->name, sink);
	return ret;
}

/*
 * For one program, show the backtraces of the chosen function and the calls within this function.
 * Returns 1 on success, 0 when the program has no call to the function, or a negative errno.
 */
static int show_func(const struct graph *graph, const struct tree *tree,
		     const struct session *session, struct tree_node *root, struct sink *sink)
{
	struct occurrences found = { 0 };
	int ret = find_occurrences(root, graph->config.func, &found);

	if (ret == 0 && found.nr) {
		qsort(found.nodes, found.nr, sizeof(struct tree_node *), compare_newest);
		put_title(graph->config.func, session, sink);
		ret = put_backtraces(graph, &found, sink);
		if (ret == 0)
			ret = show_subtree(graph, tree, &found, sink);
	}
	free(found.nodes);
	return ret < 0 ? ret : found.nr > 0;
}

/* Returns the index of the newest program that is not shown yet, or -1 when all are shown. */
static ssize_t next_older(const struct tree *tree, const bool *is_done)
{
	const struct trace_data *data = tree->pipe->data;
	ssize_t best = -1;

	for (size_t i = 0; i < data->nr_sessions; i++) {
		if (!is_done[i] &&
		    (best < 0 || data->sessions[i]->start_ns >= data->sessions[best]->start_ns))
			best = i;
	}
	return best;
}

static int show_session(const struct graph *graph, const struct tree *tree, size_t index,
			struct sink *sink)
{
	const struct session *session = tree_session(tree, index);
	struct tree_node *root = tree->roots[index];

	if (!root->first)
		return 0;
	if (graph->config.func)
		return show_func(graph, tree, session, root, sink);

	int ret = show_program(graph, session, root, sink);

	return ret < 0 ? ret : 1;
}

/*
 * Show the program of each session, the newest first. Then show the calls without a session.
 * Returns the number of shown elements of tree->roots, or a negative errno.
 */
static int show_sessions(const struct graph *graph, const struct tree *tree, struct sink *sink)
{
	size_t nr = tree->pipe->data->nr_sessions;
	bool *is_done cleanup_free = calloc(nr + 1, sizeof(bool));
	int shown = 0;

	if (!is_done)
		return -ENOMEM;
	for (size_t i = 0; i <= nr; i++) {
		ssize_t next = next_older(tree, is_done);
		size_t index = next < 0 ? nr : (size_t)next;
		int ret = show_session(graph, tree, index, sink);

		if (ret < 0)
			return ret;
		shown += ret;
		is_done[index] = true;
	}
	return shown;
}

int graph_show(const struct graph *graph, const struct tree *tree, struct sink *sink,
	       struct uft_err *err)
{
	sink_page_begin(sink, graph->config.color);

	int ret = show_sessions(graph, tree, sink);

	if (ret < 0)
		return err_set_errno(err, ret, "cannot show the call tree");
	sink_page_end(sink, graph->config.color);
	if (ret == 0 && graph->config.func)
		return err_set(err, -ENOENT, "cannot find graph for '%s': it was not called",
			       graph->config.func);
	return ret;
}
