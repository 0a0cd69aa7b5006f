/* View: the difference of two recordings as a call tree (see graph_diff.h). */
#include "utils/view/graph/graph_diff.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/cleanup.h"
#include "utils/view/graph/graph_columns.h"
#include "utils/view/values/number.h"
#include "utils/view/picture/svg.h"
#include "utils/view/values/titles.h"
#include "utils/view/texts.h"

/* The smallest change that is highlighted. */
#define LARGE_CHANGE_NS 100000

/*
 * A node of the combined tree stands for a call that is in one recording or in both recordings. The
 * node's field @last points to the call's node in the base (the first recording). The field @after
 * points to the call's node in the pair (the second recording). If a recording lacks the call, the
 * field for this recording is NULL.
 */
static const struct tree_node *base_of(const struct tree_node *node)
{
	return node->last;
}

static const struct tree_node *pair_of(const struct tree_node *node)
{
	return node->after;
}

static uint64_t total_of(const struct tree_node *node)
{
	return node ? tree_positive(node->total_ns) : 0;
}

static uint64_t calls_of(const struct tree_node *node)
{
	return node ? node->calls : 0;
}

static int64_t change_of(const struct tree_node *node)
{
	return (int64_t)(total_of(pair_of(node)) - total_of(base_of(node)));
}

/*
 * Combine the trees of @from (tree.roots) into one tree, and store this tree in @sum. If @func is
 * NULL, include all calls. Otherwise, include the calls to functions with the name @func, and all
 * calls inside of these calls.
 */
static int unite(struct tree *from, const char *func, struct tree *sum)
{
	for (size_t i = 0; i < from->nr_roots; i++) {
		int ret = func ? graph_add_calls(sum, from->roots[i], func)
			       : tree_add_below(sum, sum->roots[0], from->roots[i]);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Add one recording to the combined tree. Functions are compared by their names only. */
static int add_side(struct tree *both, struct tree_node *from, bool is_pair)
{
	from->last = both->roots[0];
	for (struct tree_node *node = from; (node = tree_next(node, from)) != NULL;) {
		struct tree_node *copy = tree_child_named(both, node->parent->last, node->func);

		if (!copy)
			return -ENOMEM;
		if (is_pair)
			copy->after = node;
		else
			copy->last = node;
		copy->first_ns = 0;
		node->last = copy;
	}
	return 0;
}

/*
 * First come the calls that are in one recording only. After these calls come the calls that are in
 * both recordings. In each of these two groups, calls with larger changes come first.
 */
static int compare_nodes(const void *a, const void *b)
{
	const struct tree_node *x = *(struct tree_node *const *)a;
	const struct tree_node *y = *(struct tree_node *const *)b;
	bool x_is_one = !base_of(x) || !pair_of(x);
	bool y_is_one = !base_of(y) || !pair_of(y);
	int64_t x_change = llabs(change_of(x));
	int64_t y_change = llabs(change_of(y));

	if (x_is_one != y_is_one)
		return x_is_one ? -1 : 1;
	if (x_change != y_change)
		return x_change > y_change ? -1 : 1;
	return strcmp(x->func->name, y->func->name);
}

static void put_time_or_blank(const struct tree_node *node, enum color_mode color,
			      struct sink *sink)
{
	sink_lit(sink, "  ");
	sink_time(sink, total_of(node), color);
}

/* Write "  +1.234 ms". */
static void put_change(int64_t change, enum color_mode color, struct sink *sink)
{
	struct strbuf text cleanup_strbuf = { 0 };
	uint64_t ns = change < 0 ? -(uint64_t)change : (uint64_t)change;
	char cell[TIME_MAX_BYTES];

	if (change == 0) {
		sink_fill(sink, ' ', TIME_WIDTH + 3);
		return;
	}
	*put_time(cell, ns) = '\0';

	size_t blanks = strspn(cell, " ");
	bool is_large = ns >= LARGE_CHANGE_NS;

	strbuf_addchars(&text, ' ', blanks + 2);
	if (is_large)
		color_begin(&text, color, change > 0 ? COLOR_RED : COLOR_BLUE);
	strbuf_addch(&text, change > 0 ? '+' : '-');
	strbuf_addstr(&text, cell + blanks);
	if (is_large)
		color_end(&text, color);
	sink_put_made(sink, &text);
}

static const char *mark_of(const struct tree_node *node)
{
	if (!base_of(node))
		return "+";
	return pair_of(node) ? " " : "-";
}

static void put_line(const struct tree_node *node, const struct strbuf *indent,
		     const struct graph_diff_config *config, struct sink *sink)
{
	uint64_t base_calls = calls_of(base_of(node));
	uint64_t pair_calls = calls_of(pair_of(node));

	sink_str(sink, mark_of(node));
	put_time_or_blank(base_of(node), config->color, sink);
	put_time_or_blank(pair_of(node), config->color, sink);
	put_change(change_of(node), config->color, sink);
	sink_lit(sink, " : ");
	sink_put_made(sink, indent);
	if (base_calls == pair_calls)
		sink_putf(sink, "(%llu) ", (unsigned long long)base_calls);
	else
		sink_putf(sink, "(%llu -> %llu) ", (unsigned long long)base_calls,
			  (unsigned long long)pair_calls);
	sink_func(sink, node->func);
	sink_lit(sink, "\n");
}

static int put_text(const struct tree_node *root, const struct graph_diff_config *config,
		    struct sink *sink)
{
	struct strbuf indent cleanup_strbuf = { 0 };
	const struct tree_node *node = root->first;

	sink_lit(sink, "#   BASE TIME   PAIR TIME   DIFFERENCE   FUNCTION\n");
	while (node) {
		put_line(node, &indent, config, sink);
		if (node->first) {
			strbuf_addstr(&indent, "  ");
			node = node->first;
			continue;
		}
		for (; node != root && !node->next; node = node->parent) {
			if (node->parent != root)
				strbuf_cut(&indent, indent.len - strlen("  "));
		}
		node = node == root ? NULL : node->next;
	}
	return strbuf_oom(&indent) ? -ENOMEM : 0;
}

/*
 * The width of a call's box is the longer of the call's times in the two recordings. If only one
 * recording has the call, the width is the call's time in this recording.
 */
static uint64_t picture_value(const struct tree_node *node)
{
	return MAX(total_of(base_of(node)), total_of(pair_of(node)));
}

/*
 * Red is slower, and blue is faster. A larger change has a stronger colour. A call that only one
 * recording has gets the strongest colour.
 */
static void picture_color(const struct tree_node *node, struct sink *sink)
{
	double part = (double)change_of(node) / MAX(picture_value(node), (uint64_t)1);
	double strength = MIN(part < 0 ? -part : part, 1.0);

	if (strength < 0.01)
		sink_lit(sink, "#e2e2de");
	else
		sink_putf(sink, "hsl(%d,%d%%,%d%%)", part > 0 ? 4 : 212, (int)(45 + 40 * strength),
			  (int)(88 - 30 * strength));
}

static void picture_tip(const struct tree_node *node, uint64_t all, struct sink *sink)
{
	int64_t change = change_of(node);

	sink_func(sink, node->func);
	sink_lit(sink, ": ");
	svg_put_calls(calls_of(base_of(node)), sink);
	sink_lit(sink, ", ");
	svg_put_time(total_of(base_of(node)), sink);
	sink_lit(sink, "; then ");
	svg_put_calls(calls_of(pair_of(node)), sink);
	sink_lit(sink, ", ");
	svg_put_time(total_of(pair_of(node)), sink);
	sink_either(sink, change < 0, " (-", " (+");
	svg_put_time(change < 0 ? -(uint64_t)change : (uint64_t)change, sink);
	sink_lit(sink, ")");
}

static void put_picture(const struct tree *both, const struct trace_data *base,
			const struct trace_data *pair, struct sink *sink)
{
	static const struct svg_style style = { picture_value, picture_color, picture_tip };
	struct strbuf title cleanup_strbuf = { 0 };

	strbuf_addf(&title, "%s: red took longer in %s than in %s", title_recording(pair),
		    pair->dir, base->dir);
	svg_put_trees(&style, both->roots, 1, strbuf_str(&title), sink);
}

static void put_titles(const struct trace_data *base, const struct trace_data *pair,
		       struct sink *sink)
{
	sink_lit(sink, "# Difference of call graphs\n#  base: ");
	sink_str(sink, base->dir);
	sink_lit(sink, "\n#  pair: ");
	sink_str(sink, pair->dir);
	sink_lit(sink, "\n");
}

static int show_difference(const struct graph_diff_config *config, const struct tree *both,
			   const struct trace_data *base, const struct trace_data *pair,
			   struct sink *sink)
{
	if (config->is_picture) {
		put_picture(both, base, pair, sink);
		return 0;
	}
	sink_page_begin(sink, config->color);
	put_titles(base, pair, sink);

	int ret = put_text(both->roots[0], config, sink);

	sink_page_end(sink, config->color);
	return ret;
}

int graph_diff_show(const struct graph_diff_config *config, struct tree *base, struct tree *pair,
		    struct sink *sink, struct uft_err *err)
{
	struct tree base_sum cleanup_tree = { 0 };
	struct tree pair_sum cleanup_tree = { 0 };
	struct tree both cleanup_tree = { 0 };
	int ret = tree_init(&base_sum, base->pipe, err);

	if (ret == 0)
		ret = tree_init(&pair_sum, pair->pipe, err);
	if (ret == 0)
		ret = tree_init(&both, base->pipe, err);
	if (ret < 0)
		return ret;
	ret = unite(base, config->func, &base_sum);
	if (ret == 0)
		ret = unite(pair, config->func, &pair_sum);
	if (ret == 0)
		ret = add_side(&both, base_sum.roots[0], false);
	if (ret == 0)
		ret = add_side(&both, pair_sum.roots[0], true);
	if (ret == 0)
		ret = tree_sort_by(both.roots[0], compare_nodes);
	if (ret == 0 && config->func && !both.roots[0]->first)
		return err_set(err, -ENOENT, "cannot find graph for '%s': it was not called",
			       config->func);
	if (ret == 0)
		ret = show_difference(config, &both, base->pipe->data, pair->pipe->data, sink);
	return ret < 0 ? err_set_errno(err, ret, "cannot compare call trees") : 0;
}
