/* Exporter: call trees for graphviz. */
#include <string.h>

#include "utils/export/export.h"
#include "utils/view/texts.h"
#include "utils/view/titles.h"

/* The inside of a quoted string: only the quote ends it, and a backslash means something. */
static void put_name(struct export *ex, const char *name)
{
	struct strbuf text cleanup_strbuf = { 0 };

	text_put_utf8(&text, name, strlen(name));
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '"' || text.data[i] == '\\')
			sink_puts(ex->sink, "\\");
		sink_put(ex->sink, text.data[i] == '\n' ? " " : &text.data[i], 1);
	}
}

/* In a comment: what has lines stays in one. */
static void put_comment(struct export *ex, const char *key, const char *value)
{
	sink_putf(ex->sink, "# %s\"", key);
	put_name(ex, value);
	sink_puts(ex->sink, "\"\n");
}

static void put_edges(struct export *ex, const struct tree_node *root, const char *program)
{
	for (const struct tree_node *node = root; (node = tree_next(node, root)) != NULL;) {
		const struct tree_node *parent = node->parent;

		sink_puts(ex->sink, "    \"");
		put_name(ex, parent == root ? program : parent->func->name);
		sink_puts(ex->sink, "\" -> \"");
		put_name(ex, node->func->name);
		sink_putf(ex->sink, "\" [xlabel = \"%llu\"]\n", (unsigned long long)node->calls);
	}
}

static int show(struct export *ex, struct tree *tree, struct uft_err *err)
{
	const struct trace_data *data = ex->pipe->data;

	put_comment(ex, "version\":", ex->config->tool);
	put_comment(ex, "command_line ", title_cmdline(data));
	sink_puts(ex->sink, "\ndigraph \"");
	put_name(ex, title_recording(data));
	sink_puts(ex->sink, "\" { \n");
	for (size_t i = 0; i < tree->nr_roots; i++)
		put_edges(ex, tree->roots[i],
			  title_program(i < data->nr_sessions ? data->sessions[i] : NULL));
	sink_puts(ex->sink, "}\n");
	return 0;
}

const struct exporter exp_graphviz = {
	.name = "graphviz",
	.show = show,
};
