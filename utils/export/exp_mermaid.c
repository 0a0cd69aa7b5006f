/* Exporter: a web page with the call tree as a mermaid flow chart. */
#include <errno.h>
#include <stdlib.h>

#include "utils/base/cleanup.h"
#include "utils/base/containers/vec.h"
#include "utils/export/export.h"
#include "utils/view/values/titles.h"

static void put_node(struct export *ex, size_t depth, size_t id, const char *name)
{
	sink_putf(ex->sink, "%zu_%zu[\"", depth, id);
	sink_str(ex->sink, name);
	sink_lit(ex->sink, "\"]");
}

/*
 * Nodes are numbered in the order of the output.
 *
 * @ids: the numbers of the current node and its callers, by depth
 */
struct numbering {
	size_t *ids;
	size_t nr;
	size_t last;
};

static int set_id(struct numbering *numbers, size_t depth, size_t id)
{
	size_t *ids = vec_reach(numbers->ids, &numbers->nr, depth, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	numbers->ids = ids;
	numbers->ids[depth] = id;
	return 0;
}

static int put_edges(struct export *ex, const struct tree_node *root, const char *program,
		     struct numbering *numbers)
{
	const struct tree_node *node = root;
	size_t depth = 0;

	if (!root->first)
		return 0;
	if (set_id(numbers, 0, numbers->last) < 0)
		return -ENOMEM;
	for (;;) {
		if (node->first) {
			node = node->first;
			depth++;
		} else {
			for (; node != root && !node->next; node = node->parent)
				depth--;
			if (node == root)
				break;
			node = node->next;
		}
		if (set_id(numbers, depth, ++numbers->last) < 0)
			return -ENOMEM;
		sink_lit(ex->sink, "  ");
		put_node(ex, depth - 1, numbers->ids[depth - 1],
			 node->parent == root ? program : node->parent->func->name);
		sink_putf(ex->sink, " -->|%llu| ", (unsigned long long)node->calls);
		put_node(ex, depth, numbers->ids[depth], node->func->name);
		sink_lit(ex->sink, ";\n");
	}
	numbers->last++;
	return 0;
}

static void put_head(struct export *ex)
{
	/* Texts before the chart are escaped for HTML, texts in the chart for Mermaid. */
	ex->sink->medium = MEDIUM_HTML;
	sink_lit(ex->sink, "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>");
	sink_str(ex->sink, title_recording(ex->pipe->data));
	sink_lit(ex->sink, "</title>\n</head>\n<body>\n<h2>Calls of ");
	sink_str(ex->sink, title_recording(ex->pipe->data));
	sink_lit(ex->sink, "</h2>\n<div class=\"mermaid\" id=\"mermaid_graph\">\nflowchart TB\n");
	ex->sink->medium = MEDIUM_MERMAID;
}

/*
 * A script from the network draws the chart. Without this script, the page shows the text of the
 * chart.
 */
#define TAIL                                                                                   \
	"</div>\n"                                                                             \
	"<script src=\"https://cdn.jsdelivr.net/npm/mermaid/dist/mermaid.min.js\"></script>\n" \
	"<script>\n"                                                                           \
	"if (window.mermaid)\n"                                                                \
	"\tmermaid.initialize({ startOnLoad: true, maxTextSize: 1e8, maxEdges: 1e6,\n"         \
	"\t\tflowchart: { useMaxWidth: false } });\n"                                          \
	"else\n"                                                                               \
	"\tdocument.getElementById('mermaid_graph').style.whiteSpace = 'pre';\n"               \
	"</script>\n"                                                                          \
	"</body>\n"                                                                            \
	"</html>\n"

static int show_mermaid(struct export *ex, struct tree *tree, struct uft_err *err)
{
	struct numbering numbers = { 0 };
	int ret = 0;

	put_head(ex);
	for (size_t i = 0; ret == 0 && i < tree->nr_roots; i++)
		ret = put_edges(ex, tree->roots[i], title_program(tree_session(tree, i)), &numbers);
	sink_lit(ex->sink, TAIL);
	free(numbers.ids);
	return ret < 0 ? err_set_errno(err, ret, "cannot export") : 0;
}

const struct exporter exp_mermaid = {
	.name = "mermaid",
	.medium = MEDIUM_MERMAID,
	.show = show_mermaid,
	.drops_points = "it draws which function calls which",
};
