/* Tests of cmds/tui/view.c: the place of the cursor, and the lines on the screen. */
#include <string.h>

#include "tests/unit/lib/unit.h"

#include "cmds/tui/keys.h"
#include "cmds/tui/view.h"

/* A view of the given lines; "" is a blank line between two calls. */
struct sample {
	struct tui_view view;
	const char *const *lines;
	size_t nr;
};

static size_t nr_of_sample(struct tui_view *view)
{
	return ((struct sample *)view)->nr;
}

static bool is_gap_of_sample(const struct tui_view *view, size_t line)
{
	return !*((const struct sample *)view)->lines[line];
}

static bool has_word_of_sample(struct tui_view *view, size_t line, const char *word)
{
	return view_word_is_in(((struct sample *)view)->lines[line], word);
}

static const struct tui_view_ops sample_ops = {
	.nr_lines = nr_of_sample,
	.is_gap = is_gap_of_sample,
	.has_word = has_word_of_sample,
};

static const char *const lines[] = { "main", "", "one", "two", "", "Three", "four" };

static struct sample new_sample(size_t nr)
{
	return (struct sample){ .view.ops = &sample_ops, .lines = lines, .nr = nr };
}

static void assert_place(const struct sample *sample, size_t cursor, size_t top)
{
	assert_int_equal(sample->view.cursor, cursor);
	assert_int_equal(sample->view.top, top);
}

TEST(cursor_is_never_between)
{
	struct sample sample = new_sample(7);

	view_move(&sample.view, 1, 3);
	assert_place(&sample, 2, 0);
	view_move(&sample.view, -1, 3);
	assert_place(&sample, 0, 0);
	view_move(&sample.view, -1, 3);
	assert_place(&sample, 0, 0);
	/* The screen would begin with line 4 - 3 + 1, which is a blank line. */
	sample.view.cursor = 3;
	view_settle(&sample.view, 3);
	assert_place(&sample, 3, 2);
}

TEST(pages_end_at_the_last_line)
{
	struct sample sample = new_sample(7);

	view_page_down(&sample.view, 4);
	assert_place(&sample, 3, 0);
	view_page_down(&sample.view, 4);
	assert_place(&sample, 6, 3);
	view_page_down(&sample.view, 4);
	assert_place(&sample, 6, 3);
	view_page_up(&sample.view, 4);
	assert_place(&sample, 3, 3);
	view_page_up(&sample.view, 4);
	assert_place(&sample, 0, 0);
	view_end(&sample.view, 4);
	assert_place(&sample, 6, 3);
	view_home(&sample.view);
	assert_place(&sample, 0, 0);
}

TEST(nothing_is_no_place)
{
	struct sample sample = new_sample(0);

	for (int command = 0; command < TUI_ACT; command++) {
		for (size_t rows = 0; rows < 3; rows++)
			view_do_move(&sample.view, command, rows);
	}
	assert_place(&sample, 0, 0);
	assert_int_equal(view_percent(&sample.view), 100);
	assert_int_equal(view_find(&sample.view, 1, "x"), TUI_NOWHERE);
}

TEST(larger_screens_are_filled)
{
	struct sample sample = new_sample(7);

	view_fit(&sample.view, 1);
	view_end(&sample.view, 1);
	view_fit(&sample.view, 1);
	assert_place(&sample, 6, 6);
	view_fit(&sample.view, 5);
	assert_place(&sample, 6, 2);
	view_fit(&sample.view, 50);
	assert_place(&sample, 6, 0);
}

TEST(words_are_found)
{
	struct sample sample = new_sample(7);

	assert_int_equal(view_find(&sample.view, 1, "o"), 2);
	assert_int_equal(view_find(&sample.view, 1, "three"), 5);
	assert_int_equal(view_find(&sample.view, 1, "tHree"), TUI_NOWHERE);
	assert_int_equal(view_count(&sample.view, "o"), 3);
	sample.view.cursor = 3;
	assert_int_equal(view_find(&sample.view, -1, "o"), 2);
	assert_int_equal(view_find(&sample.view, -1, "four"), TUI_NOWHERE);
}
