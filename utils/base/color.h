/* Colours of text output, on a terminal or in a web page (doc/facts/text.md, "Colours"). */
#ifndef UTRAIL_BASE_COLOR_H
#define UTRAIL_BASE_COLOR_H

#include "utils/base/containers/strbuf.h"

enum color {
	COLOR_BOLD,
	COLOR_RED,
	COLOR_GREEN,
	COLOR_YELLOW,
	COLOR_BLUE,
	COLOR_MAGENTA,
	COLOR_CYAN,
	COLOR_GRAY,
};

enum color_mode {
	COLOR_MODE_OFF,
	COLOR_MODE_TERM, /* escape sequences */
	COLOR_MODE_HTML, /* <span> elements */
};

/*
 * Begin and end a coloured text. A coloured text must not contain another one. With COLOR_MODE_OFF,
 * nothing is written.
 */
void color_begin(struct strbuf *out, enum color_mode mode, enum color color);
void color_end(struct strbuf *out, enum color_mode mode);

#endif
