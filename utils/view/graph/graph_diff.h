/* View: the difference of two recordings as a call tree, as text or as a picture. */
#ifndef UTRAIL_VIEW_GRAPH_DIFF_H
#define UTRAIL_VIEW_GRAPH_DIFF_H

#include "utils/base/color.h"
#include "utils/base/err.h"
#include "utils/base/sink.h"
#include "utils/view/graph/tree.h"

/* @func: only the calls of this function; NULL: all. @is_picture: SVG */
struct graph_diff_config {
	enum color_mode color;
	const char *func;
	bool is_picture;
};

/*
 * Show the nodes that @pair has more and less than @base; both are finished. Paths are brought
 * together by the names of their functions; all programs of a recording are one. -ENOENT when
 * neither called the function, -ENOMEM.
 */
int graph_diff_show(const struct graph_diff_config *config, struct tree *base, struct tree *pair,
		    struct sink *sink, struct uft_err *err);

#endif
