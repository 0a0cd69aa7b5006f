/* Moves a view's cursor, and searches in a view (see view.h). */
#include "cmds/tui/view.h"

#include <ctype.h>
#include <string.h>

#include "cmds/tui/keys.h"

/* The keys Left and Right scroll by this number of columns. */
#define SHIFT_COLUMNS 8
/* The number of lines that a search reads between two calls of @stops. */
#define LOOK_LINES    1024

static size_t count_lines(struct tui_view *view)
{
	return view->ops->nr_lines(view);
}

static bool is_gap(const struct tui_view *view, size_t line)
{
	return view->ops->is_gap && view->ops->is_gap(view, line);
}

/*
 * Returns the first line at or after @line that the cursor can be on. If there is none, returns the
 * last such line before @line.
 */
static size_t usable_line(struct tui_view *view, size_t line)
{
	size_t nr = count_lines(view);

	if (nr == 0)
		return 0;
	for (size_t at = MIN(line, nr - 1); at < nr; at++) {
		if (!is_gap(view, at))
			return at;
	}
	for (size_t at = MIN(line, nr - 1); at > 0; at--) {
		if (!is_gap(view, at))
			return at;
	}
	return 0;
}

/* Returns the last line at or before @line that the cursor can be on. */
static size_t usable_before(struct tui_view *view, size_t line)
{
	while (line > 0 && is_gap(view, line))
		line--;
	return line;
}

void view_settle(struct tui_view *view, size_t rows)
{
	rows = MAX(rows, (size_t)1);
	view->cursor = usable_line(view, view->cursor);
	if (view->cursor < view->top)
		view->top = view->cursor;
	if (view->cursor - view->top >= rows)
		view->top = view->cursor - rows + 1;
	/* A screen does not begin with the empty line between two calls. */
	while (view->top < view->cursor && is_gap(view, view->top))
		view->top++;
}

void view_move(struct tui_view *view, int step, size_t rows)
{
	size_t nr = count_lines(view);
	size_t line = view->cursor;

	do {
		if (step < 0 ? line == 0 : line + 1 >= nr)
			return;
		line += step;
	} while (is_gap(view, line));
	view->cursor = line;
	view_settle(view, rows);
}

/* Returns the line that a scroll to the end of the view puts at the top of the screen. */
static size_t last_top(struct tui_view *view, size_t rows)
{
	size_t nr = count_lines(view);
	size_t top = nr > rows ? nr - rows : 0;

	while (top + 1 < nr && is_gap(view, top))
		top++;
	return top;
}

void view_page_down(struct tui_view *view, size_t rows)
{
	size_t nr = count_lines(view);

	rows = MAX(rows, (size_t)1);
	if (nr == 0)
		return;
	if (usable_before(view, MIN(view->top + rows, nr) - 1) <= view->cursor)
		view->top = MAX(view->top, MIN(view->cursor, last_top(view, rows)));
	view->cursor = MAX(view->cursor, usable_before(view, MIN(view->top + rows, nr) - 1));
	view_settle(view, rows);
}

void view_fit(struct tui_view *view, size_t rows)
{
	rows = MAX(rows, (size_t)1);
	if (view->rows != rows)
		view->top = MIN(view->top, last_top(view, rows));
	view->rows = rows;
	view_settle(view, rows);
}

void view_page_up(struct tui_view *view, size_t rows)
{
	size_t first = usable_line(view, view->top);

	rows = MAX(rows, (size_t)1);
	if (first >= view->cursor) {
		view->top = view->cursor >= rows ? view->cursor - rows + 1 : 0;
		first = usable_line(view, view->top);
	}
	view->cursor = MIN(first, view->cursor);
	view_settle(view, rows);
}

void view_home(struct tui_view *view)
{
	view->top = 0;
	view->cursor = usable_line(view, 0);
}

void view_end(struct tui_view *view, size_t rows)
{
	size_t nr = count_lines(view);

	view->cursor = nr ? usable_before(view, nr - 1) : 0;
	view_settle(view, rows);
}

void view_center(struct tui_view *view, size_t rows)
{
	size_t half = rows / 2 + 1;
	size_t end = last_top(view, MAX(rows, (size_t)1));

	/*
	 * Rows are counted from 0. If the lines must move down, the cursor ends up on row @half.
	 * If the lines must move up, the cursor ends up on row @half - 1.
	 */
	if (view->cursor - view->top < half) {
		while (view->top > 0 &&
		       (view->cursor - view->top < half || is_gap(view, view->top)))
			view->top--;
	} else if (view->cursor - view->top > half) {
		while (view->top < end &&
		       (view->cursor - view->top >= half || is_gap(view, view->top)))
			view->top++;
	}
	view_settle(view, rows);
}

void view_go(struct tui_view *view, size_t line, size_t rows)
{
	view->cursor = line;
	view_settle(view, rows);
}

bool view_do_move(struct tui_view *view, int command, size_t rows)
{
	switch (command) {
	case TUI_UP:
	case TUI_DOWN:
		view_move(view, command == TUI_DOWN ? 1 : -1, rows);
		return true;
	case TUI_PAGE_UP:
		view_page_up(view, rows);
		return true;
	case TUI_PAGE_DOWN:
		view_page_down(view, rows);
		return true;
	case TUI_HOME:
		view_home(view);
		return true;
	case TUI_END:
		view_end(view, rows);
		return true;
	case TUI_CENTER:
		view_center(view, rows);
		return true;
	case TUI_LEFT:
		view->shift -= MIN(view->shift, (size_t)SHIFT_COLUMNS);
		return true;
	case TUI_RIGHT:
		view->shift += SHIFT_COLUMNS;
		return true;
	default:
		return false;
	}
}

static bool has_word(struct tui_view *view, size_t line, const char *word)
{
	return view->ops->has_word && view->ops->has_word(view, line, word);
}

ssize_t view_find(struct tui_view *view, int step, const char *word)
{
	size_t nr = count_lines(view);

	if (view->ops->knows_word && !view->ops->knows_word(view, word))
		return TUI_NOWHERE;
	for (size_t at = view->cursor + step; at < nr; at += step) {
		if (has_word(view, at, word))
			return at;
		if (at % LOOK_LINES == 0 && view->stops && view->stops())
			break;
	}
	return TUI_NOWHERE;
}

size_t view_count(struct tui_view *view, const char *word)
{
	size_t found = 0;

	for (size_t nr = count_lines(view), at = 0; at < nr; at++)
		found += has_word(view, at, word);
	return found;
}

unsigned view_percent(struct tui_view *view)
{
	size_t nr = count_lines(view);

	return nr > 1 ? (unsigned)((double)view->cursor * 100 / (nr - 1)) : 100;
}

bool view_word_is_in(const char *name, const char *word)
{
	for (const char *at = word; *at; at++) {
		if (isupper((unsigned char)*at))
			return strstr(name, word);
	}
	return strcasestr(name, word);
}
