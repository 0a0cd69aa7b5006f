/* Exporter: a flame graph as a picture (SVG), with a script in it for zooming and searching. */
#include <string.h>

#include "utils/export/export.h"
#include "utils/view/picture/svg.h"
#include "utils/view/values/titles.h"
#include "utils/view/texts.h"

static uint64_t value(const struct tree_node *node)
{
	return tree_positive(node->total_ns);
}

/*
 * Write the colour of a function. The colour follows from the function's name, by the same rules as
 * in the HTML page (ui/colors.js).
 */
static void put_color(const struct tree_node *node, struct sink *sink)
{
	const char *name = node->func->name;
	uint32_t hash = 2166136261;

	if (strncmp(name, "linux:schedule", 14) == 0) {
		sink_lit(sink, "#d5d9e0");
		return;
	}
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619;
	sink_putf(sink, "hsl(%u,58%%,%u%%)", hash % 360, 71 + (hash >> 9) % 11);
}

static void put_tip(const struct tree_node *node, uint64_t all, struct sink *sink)
{
	sink_func(sink, node->func);
	sink_lit(sink, ": ");
	svg_put_calls(node->calls, sink);
	sink_lit(sink, ", ");
	svg_put_time(tree_positive(node->total_ns), sink);
	sink_putf(sink, " (%.2f %%), itself ", 100.0 * tree_positive(node->total_ns) / all);
	svg_put_time(tree_positive(node->self_ns), sink);
}

static int show_svg(struct export *ex, struct tree *tree, struct uft_err *err)
{
	static const struct svg_style style = { value, put_color, put_tip };

	svg_put_trees(&style, tree->roots, tree->nr_roots, title_recording(ex->pipe->data),
		      ex->sink);
	return 0;
}

const struct exporter exp_svg = {
	.name = "svg",
	.medium = MEDIUM_HTML,
	.show = show_svg,
	.drops_points = "a flame graph adds up time, and events take none",
};
