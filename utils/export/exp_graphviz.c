/* Exporter: call trees for graphviz. */
#include "utils/export/export.h"
#include "utils/view/values/titles.h"

/* Write a value in quotes, and end the line. The value is a part of a comment of the graph. */
static void put_value(struct export *ex, const char *value)
{
	sink_lit(ex->sink, "\"");
	sink_str(ex->sink, value);
	sink_lit(ex->sink, "\"\n");
}

static void put_edges(struct export *ex, const struct tree_node *root, const char *program)
{
	for (const struct tree_node *node = root; (node = tree_next(node, root)) != NULL;) {
		const struct tree_node *parent = node->parent;

		sink_lit(ex->sink, "    \"");
		sink_str(ex->sink, parent == root ? program : parent->func->name);
		sink_lit(ex->sink, "\" -> \"");
		sink_str(ex->sink, node->func->name);
		sink_putf(ex->sink, "\" [xlabel = \"%llu\"]\n", (unsigned long long)node->calls);
	}
}

static int show_graphviz(struct export *ex, struct tree *tree, struct uft_err *err)
{
	const struct trace_data *data = ex->pipe->data;

	sink_lit(ex->sink, "# version\":");
	put_value(ex, ex->config->tool);
	sink_lit(ex->sink, "# command_line ");
	put_value(ex, title_cmdline(data));
	sink_lit(ex->sink, "\ndigraph \"");
	sink_str(ex->sink, title_recording(data));
	sink_lit(ex->sink, "\" { \n");
	for (size_t i = 0; i < tree->nr_roots; i++)
		put_edges(ex, tree->roots[i], title_program(tree_session(tree, i)));
	sink_lit(ex->sink, "}\n");
	return 0;
}

const struct exporter exp_graphviz = {
	.name = "graphviz",
	.medium = MEDIUM_DOT,
	.show = show_graphviz,
	.drops_points = "it draws which function calls which",
};
