/* Colours of text output, on a terminal or in a web page (see color.h). */
#include "utils/base/color.h"

static const struct {
	const char *term;
	const char *html;
} colors[] = {
	[COLOR_BOLD] = { "\033[1m", "<span style='font-weight:bold'>" },
	[COLOR_RED] = { "\033[91m", "<span style='color:red'>" },
	[COLOR_GREEN] = { "\033[32m", "<span style='color:green'>" },
	[COLOR_YELLOW] = { "\033[33m", "<span style='color:yellow'>" },
	[COLOR_BLUE] = { "\033[94m", "<span style='color:blue'>" },
	[COLOR_MAGENTA] = { "\033[35m", "<span style='color:magenta'>" },
	[COLOR_CYAN] = { "\033[36m", "<span style='color:cyan'>" },
	[COLOR_GRAY] = { "\033[90m", "<span style='color:gray'>" },
};

void color_begin(struct strbuf *out, enum color_mode mode, enum color color)
{
	if (mode == COLOR_MODE_TERM)
		strbuf_addstr(out, colors[color].term);
	else if (mode == COLOR_MODE_HTML)
		strbuf_addstr(out, colors[color].html);
}

void color_end(struct strbuf *out, enum color_mode mode)
{
	if (mode == COLOR_MODE_TERM)
		strbuf_addstr(out, "\033[0m");
	else if (mode == COLOR_MODE_HTML)
		strbuf_addstr(out, "</span>");
}
