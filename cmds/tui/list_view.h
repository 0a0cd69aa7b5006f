/* Shows lines that do not change: facts about the recording, and the list of its programs. */
#ifndef UTRAIL_CMDS_TUI_LIST_VIEW_H
#define UTRAIL_CMDS_TUI_LIST_VIEW_H

#include "cmds/tui/view.h"
#include "utils/base/containers/strbuf.h"

/*
 * Starts as { 0 }, is made by list_view_init(), and ends with list_view_deinit().
 *
 * @text: all lines, each with a newline; escaped, with colours for a terminal
 * @starts: offsets of the lines in @text
 * @heading, @place: the first and the last line of the screen; borrowed
 */
struct list_view {
	struct tui_view view;
	struct strbuf text;
	size_t *starts;
	size_t nr;
	const char *heading;
	const char *place;
};

/*
 * Make the view from @view->text. @name is a word for the kind of view, such as "help". Returns 0
 * or -ENOMEM with @err.
 */
int list_view_init(struct list_view *view, const char *name, const char *heading, const char *place,
		   struct uft_err *err);
void list_view_deinit(struct list_view *view);

#endif
