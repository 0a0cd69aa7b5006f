/* Flame graphs as pictures (see svg.h). */
#include "utils/view/picture/svg.h"

#include <string.h>

#include "utils/view/picture/script.h"

#define WIDTH	   1200
#define ROW	   17
#define MARGIN	   10
#define TITLE	   44
/* Boxes narrower than this number of pixels are left out, because they would be invisible. */
#define LEAST	   0.1
/* The approximate width of a letter of the font. */
#define LETTER	   6.6
#define LEVELS_MAX 400

/* The position and width of a box, in pixels. */
struct place {
	double x;
	double width;
};

/*
 * @all: the number that the width of the picture shows (svg_style.put_tip)
 * @height: the height of the picture in pixels, or 0 before it is known. With 0, nothing is drawn
 */
struct drawing {
	const struct svg_style *style;
	struct sink *sink;
	double height;
	uint64_t all;
};

void svg_put_calls(uint64_t nr, struct sink *sink)
{
	sink_putf(sink, "%llu call", (unsigned long long)nr);
	if (nr != 1)
		sink_lit(sink, "s");
}

void svg_put_time(uint64_t ns, struct sink *sink)
{
	if (ns < 1000)
		sink_putf(sink, "%u ns", (unsigned)ns);
	else if (ns < 1000000)
		sink_putf(sink, "%.3f us", ns / 1e3);
	else if (ns < 1000000000)
		sink_putf(sink, "%.3f ms", ns / 1e6);
	else
		sink_putf(sink, "%.3f s", ns / 1e9);
}

/* Write as much of the name as fits into the box. */
static void put_label(const struct drawing *d, const char *name, const struct place *place,
		      double y)
{
	int room = (place->width - 6) / LETTER;
	size_t len = strlen(name);

	if (room < 3)
		return;
	sink_putf(d->sink, "<text x=\"%.1f\" y=\"%.1f\">", place->x + 3, y + ROW - 5);
	if (len <= (size_t)room) {
		sink_text(d->sink, name, len);
	} else {
		sink_text(d->sink, name, escape_cut(name, room - 1));
		sink_lit(d->sink, "\xe2\x80\xa6");
	}
	sink_lit(d->sink, "</text>");
}

static void put_box(const struct drawing *d, const struct tree_node *node,
		    const struct place *place, double y)
{
	sink_lit(d->sink, "<g data-name=\"");
	sink_str(d->sink, node->func->name);
	sink_lit(d->sink, "\"><title>");
	d->style->put_tip(node, d->all, d->sink);
	sink_putf(d->sink,
		  "</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" fill=\"",
		  place->x, y, MAX(place->width - 0.4, 0.1), ROW - 1);
	d->style->put_color(node, d->sink);
	sink_lit(d->sink, "\"/>");
	put_label(d, node->func->name, place, y);
	sink_lit(d->sink, "</g>\n");
}

/*
 * Returns the value that corresponds to the width of @node: the larger of its own value and the sum
 * of its children's values. The sum is larger if children ran at the same time.
 */
static uint64_t to_share(const struct svg_style *style, const struct tree_node *node)
{
	uint64_t own = node->func ? style->value(node) : 0;
	uint64_t sum = 0;

	for (const struct tree_node *child = node->first; child; child = child->next)
		sum += style->value(child);
	return MAX(MAX(sum, own), (uint64_t)1);
}

/*
 * Visit all boxes that are wide enough, and draw them if the height is known. Returns the number of
 * levels.
 */
static unsigned walk_boxes(const struct drawing *d, const struct tree_node *root, double x,
			   double width)
{
	struct place above[LEVELS_MAX + 1] = { { x, width } };
	double used[LEVELS_MAX + 1] = { 0 };
	uint64_t shared[LEVELS_MAX + 1] = { to_share(d->style, root) };
	const struct tree_node *node = root->first;
	unsigned depth = 1;
	unsigned levels = 0;

	while (node) {
		struct place place = {
			above[depth - 1].x + used[depth - 1],
			above[depth - 1].width * d->style->value(node) / shared[depth - 1],
		};
		bool is_seen = place.width >= LEAST;

		used[depth - 1] += place.width;
		if (is_seen) {
			levels = MAX(levels, depth);
			if (d->height > 0)
				put_box(d, node, &place, d->height - MARGIN - depth * ROW);
		}
		if (is_seen && node->first && depth < LEVELS_MAX) {
			above[depth] = place;
			used[depth] = 0;
			shared[depth] = to_share(d->style, node);
			node = node->first;
			depth++;
			continue;
		}
		for (; node != root && !node->next; node = node->parent)
			depth--;
		node = node == root ? NULL : node->next;
	}
	return levels;
}

static void put_head(const struct drawing *d, const char *title)
{
	sink_putf(d->sink,
		  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		  "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" "
		  "height=\"%.0f\" font-family=\"system-ui, DejaVu Sans, Verdana, sans-serif\" "
		  "font-size=\"11.5\">\n"
		  "<style>g{cursor:pointer}g:hover rect{stroke:#222;stroke-width:1}"
		  "text{pointer-events:none}</style>\n"
		  "<rect width=\"100%%\" height=\"100%%\" fill=\"#fbfbf9\"/>\n"
		  "<text x=\"%d\" y=\"24\" text-anchor=\"middle\" font-size=\"16\">",
		  WIDTH, d->height, WIDTH, d->height, WIDTH / 2);
	sink_str(d->sink, title);
	sink_lit(d->sink, "</text>\n");
}

void svg_put_trees(const struct svg_style *style, struct tree_node *const *roots, size_t nr,
		   const char *title, struct sink *sink)
{
	struct drawing d = { .style = style, .sink = sink };
	double width = WIDTH - 2 * MARGIN;
	double x = MARGIN;
	unsigned levels = 0;

	for (size_t i = 0; i < nr; i++) {
		d.all += roots[i]->first ? to_share(style, roots[i]) : 0;
		levels = MAX(levels, walk_boxes(&d, roots[i], 0, width));
	}
	sink->medium = MEDIUM_HTML;
	d.all = MAX(d.all, (uint64_t)1);
	d.height = TITLE + MARGIN + levels * ROW;
	put_head(&d, title);
	for (size_t i = 0; i < nr; i++) {
		if (!roots[i]->first)
			continue;

		double part = width * to_share(style, roots[i]) / d.all;

		walk_boxes(&d, roots[i], x, part);
		x += part;
	}
	sink_lit(sink, "<script><![CDATA[\n");
	sink_put_raw(sink, picture_script, strlen(picture_script));
	sink_lit(sink, "]]></script>\n</svg>\n");
}
