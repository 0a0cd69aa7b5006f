/* A view of the screen program as text, without a terminal. */
#ifndef UTRAIL_TESTS_VIEW_TEXT_H
#define UTRAIL_TESTS_VIEW_TEXT_H

#include "cmds/tui/view.h"
#include "utils/base/containers/strbuf.h"
#include "utils/base/sink.h"

/*
 * Empties @out, writes all lines to it, and returns its text. "> " is before the cursor's line, two
 * blanks are before each other line.
 */
static inline const char *view_text(struct tui_view *view, struct strbuf *out)
{
	struct sink sink;

	strbuf_reset(out);
	assert_int_equal(sink_init_text(&sink, out), 0);
	for (size_t line = 0; line < view->ops->nr_lines(view); line++) {
		sink_str(&sink, line == view->cursor ? "> " : "  ");
		view->ops->put_line(view, line, &sink);
		sink_lit(&sink, "\n");
	}
	assert_int_equal(sink_flush(&sink), 0);
	sink_deinit(&sink);
	return strbuf_str(out);
}

/* Passes the action of a key to the view. */
static inline void view_act(struct tui_view *view, enum tui_act act)
{
	assert_int_equal(view->ops->act(view, act, NULL), 0);
}

#endif
