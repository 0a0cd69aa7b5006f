/* View: the difference of two recordings as a call tree, as text or as a picture. */
#ifndef UTRAIL_VIEW_GRAPH_DIFF_H
#define UTRAIL_VIEW_GRAPH_DIFF_H

#include "utils/base/color.h"
#include "utils/base/err.h"
#include "utils/base/sink.h"
#include "utils/view/graph/tree.h"

/*
 * @func: compare only calls to functions with this name, and the calls inside such calls; NULL:
 *        compare all calls
 * @is_picture: make SVG instead of text
 */
struct graph_diff_config {
	enum color_mode color;
	const char *func;
	bool is_picture;
};

/*
 * Show the differences between the finished trees @base and @pair. Returns 0 or a negative errno.
 * Returns -ENOENT when neither tree has a call of config->func.
 *
 * Call paths are compared by the names of their functions. All programs of a recording count as
 * one program.
 */
int graph_diff_show(const struct graph_diff_config *config, struct tree *base, struct tree *pair,
		    struct sink *sink, struct uft_err *err);

#endif
