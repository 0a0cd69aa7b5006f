/* Draws a view on the screen: its heading, its lines and the bottom line (see state.h). */
#include <stdlib.h>
#include <string.h>

#include "cmds/tui/screen.h"
#include "cmds/tui/state.h"

/* The width of the percentage at the end of the bottom line. */
#define PERCENT_COLUMNS 5

size_t draw_rows(void)
{
	size_t rows = screen_size().rows;

	return rows > 2 ? rows - 2 : 1;
}

static void begin_line(struct tui *tui)
{
	sink_flush(&tui->sink);
	strbuf_reset(&tui->line);
}

static void put_made_line(struct tui *tui, size_t row, size_t shift, enum screen_look look)
{
	sink_flush(&tui->sink);
	screen_put(row, 0, screen_size().columns, strbuf_str(&tui->line), tui->line.len, shift,
		   look);
}

static void draw_heading(struct tui *tui)
{
	begin_line(tui);
	if (tui->view->ops->put_heading)
		tui->view->ops->put_heading(tui->view, &tui->sink);
	put_made_line(tui, 0, tui->view->shift, SCREEN_BAR);
}

static void draw_body(struct tui *tui, size_t first_row)
{
	struct tui_view *view = tui->view;
	size_t nr = view->ops->nr_lines(view);
	size_t rows = draw_rows();

	view_fit(view, rows);
	for (size_t i = 0; i < rows; i++) {
		size_t line = view->top + i;

		begin_line(tui);
		if (line < nr)
			view->ops->put_line(view, line, &tui->sink);
		put_made_line(tui, first_row + i, view->shift,
			      line == view->cursor && line < nr ? SCREEN_CURSOR : SCREEN_PLAIN);
	}
}

static void put_state(struct tui *tui, struct sink *sink)
{
	struct tui_view *view = tui->view;
	size_t nr = view->ops->nr_lines(view);

	sink_lit(sink, "utrail ");
	sink_str(sink, view->name);
	sink_lit(sink, ": ");
	if (tui->note) {
		sink_str(sink, tui->note);
	} else if (tui->shows_count) {
		sink_lit(sink, "searching \"");
		sink_str(sink, tui->word);
		sink_putf(sink, "\"  (%zu match, use '<' and '>' keys to navigate)",
			  tui->nr_matches);
	} else if (tui->shows_debug) {
		sink_putf(sink, "line %zu of %zu, the first on the screen is %zu", view->cursor, nr,
			  view->top);
	} else if (view->ops->put_place) {
		view->ops->put_place(view, view->cursor, sink);
	}
}

static void draw_state(struct tui *tui, size_t row)
{
	size_t columns = screen_size().columns;

	begin_line(tui);
	put_state(tui, &tui->sink);
	put_made_line(tui, row, 0, SCREEN_BAR);
	if (tui->note || columns < 4 * PERCENT_COLUMNS)
		return;
	begin_line(tui);
	sink_putf(&tui->sink, "%4u%%", view_percent(tui->view));
	sink_flush(&tui->sink);
	screen_put(row, columns - PERCENT_COLUMNS, PERCENT_COLUMNS, strbuf_str(&tui->line),
		   tui->line.len, 0, SCREEN_BAR);
}

static void draw_view(struct tui *tui)
{
	bool has_heading = screen_size().rows > 2;

	if (has_heading)
		draw_heading(tui);
	draw_body(tui, has_heading);
}

void draw_all(struct tui *tui)
{
	size_t rows = screen_size().rows;

	draw_view(tui);
	if (rows > 1)
		draw_state(tui, rows - 1);
	screen_show();
}

void draw_prompt(struct tui *tui, const char *text)
{
	draw_view(tui);
	begin_line(tui);
	sink_str(&tui->sink, text);
	put_made_line(tui, screen_size().rows - 1, 0, SCREEN_BAR);
	screen_show();
}

void draw_note(struct tui *tui, const char *text)
{
	free(tui->note);
	tui->note = text ? strdup(text) : NULL;
}
