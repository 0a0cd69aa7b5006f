/*
 * Draws call trees as flame graphs (SVG). The width of a box shows a number, such as the time of a
 * call. The caller chooses this number (svg_style.value).
 */
#ifndef UTRAIL_VIEW_SVG_H
#define UTRAIL_VIEW_SVG_H

#include "utils/base/sink.h"
#include "utils/view/graph/tree.h"

/*
 * The meaning and look of the boxes.
 *
 * @value: returns the number that the width of the node's box shows. If the box would be narrower
 *         than 0.1 pixels, the node and its descendants get no boxes
 * @put_color: writes the colour as in CSS
 * @put_tip: writes the text of the tool tip; @all: the number that the width of the picture shows
 */
struct svg_style {
	uint64_t (*value)(const struct tree_node *node);
	void (*put_color)(const struct tree_node *node, struct sink *sink);
	void (*put_tip)(const struct tree_node *node, uint64_t all, struct sink *sink);
};

/* Write a picture of all trees in @roots side by side, below the line @title. */
void svg_put_trees(const struct svg_style *style, struct tree_node *const *roots, size_t nr,
		   const char *title, struct sink *sink);

/* Write "1 call", "2 calls". */
void svg_put_calls(uint64_t nr, struct sink *sink);

/* Write "1.234 ms". */
void svg_put_time(uint64_t ns, struct sink *sink);

#endif
