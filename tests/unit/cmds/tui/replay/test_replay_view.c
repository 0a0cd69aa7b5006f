/*
 * Tests of cmds/tui/replay: lines of calls in their order, in whichever way they are made; folds,
 * and moves through the lines.
 */
#include "tests/unit/lib/unit.h"

#include "cmds/tui/replay/replay_view.h"
#include "tests/unit/cmds/tui/view_text.h"
#include "tests/unit/lib/read/shown.h"

static struct shown shown;
static struct replay_view view;
static struct strbuf text;

static int setup(void **state)
{
	shown_init(&shown);
	view = (struct replay_view){ 0 };
	text = (struct strbuf){ 0 };
	return 0;
}

/* Opens the view, which knows the lines of its first page. */
static void open_view(void)
{
	struct replay_source source = {
		.data = &shown.data,
		.view = { .fields = "none", .merges_leaves = true, .shows_comments = true },
		.until_ns = UINT64_MAX,
	};

	shown_begin(&shown);
	source.config = shown.stages;
	assert_int_equal(replay_view_init(&view, &source, NULL, NULL), 0);
}

static void begin(void)
{
	open_view();
	while (replay_view_work(&view))
		;
}

static int teardown(void **state)
{
	replay_view_deinit(&view);
	shown_end(&shown);
	strbuf_deinit(&text);
	shown_deinit(&shown);
	return 0;
}

static const char *const whole = "> a() {\n"
				 "    b();\n"
				 "    c() {\n"
				 "      d() {\n"
				 "        e();\n"
				 "      } /* d */\n"
				 "    } /* c */\n"
				 "    b();\n"
				 "  } /* a */\n"
				 "  f();\n";

TEST_WITH(folds_and_ways, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{}c{d{e{}}}b{}}f{}", 1000);
	begin();
	assert_string_equal(view_text(&view.view, &text), whole);
	view_act(&view.view, TUI_LONGEST_CHILD);
	assert_int_equal(view.view.cursor, 2);
	view_act(&view.view, TUI_FOLD);
	assert_string_equal(view_text(&view.view, &text), "  a() {\n"
							  "    b();\n"
							  ">   c() { ... }\n"
							  "    b();\n"
							  "  } /* a */\n"
							  "  f();\n");
	view_act(&view.view, TUI_NEXT_SIBLING);
	assert_int_equal(view.view.cursor, 3);
	view_act(&view.view, TUI_NEXT_SIBLING);
	assert_int_equal(view.view.cursor, 3);
	view_act(&view.view, TUI_PREV_SIBLING);
	view_act(&view.view, TUI_PREV_SIBLING);
	assert_int_equal(view.view.cursor, 1);
	view_act(&view.view, TUI_PARENT);
	assert_int_equal(view.view.cursor, 0);
	view_act(&view.view, TUI_NEXT_SIBLING);
	assert_int_equal(view.view.cursor, 5);
	view.view.cursor = 0;
	view_act(&view.view, TUI_UNFOLD_CHILDREN);
	assert_string_equal(view_text(&view.view, &text), whole);
	view_act(&view.view, TUI_FOLD_ALL);
	assert_int_equal(view.nr_folds, 2);
	view_act(&view.view, TUI_UNFOLD_CHILDREN);
	assert_int_equal(view.nr_folds, 1);
	view_act(&view.view, TUI_UNFOLD_ALL);
	assert_string_equal(view_text(&view.view, &text), whole);
}

/* The calls of two tasks take turns. Siblings are calls of the same task. */
TEST_WITH(tasks, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{ b{} c{}}", 1000);
	recording_add_task(&shown.rec, 101, " d{ e{} g{}}", 1005);
	begin();
	view.view.cursor = 0;
	view_act(&view.view, TUI_LONGEST_CHILD);
	assert_string_equal(view.view.ops->func_at(&view.view, view.view.cursor)->name, "b");
	view_act(&view.view, TUI_NEXT_SIBLING);
	assert_string_equal(view.view.ops->func_at(&view.view, view.view.cursor)->name, "c");
	view_act(&view.view, TUI_PARENT);
	assert_string_equal(view.view.ops->func_at(&view.view, view.view.cursor)->name, "a");
}

/* Adds more lines than a page has, so that the view reads several pages. */
static void add_many(void)
{
	struct strbuf calls = { 0 };

	strbuf_addstr(&calls, "a{");
	for (size_t i = 0; i < 6000; i++)
		strbuf_addstr(&calls, i % 7 ? "b{c{}}" : "d{b{e{}}}");
	strbuf_addstr(&calls, "}f{}");
	recording_add_task(&shown.rec, 100, strbuf_str(&calls), 1000);
	strbuf_deinit(&calls);
}

/* Two pages are known, and the call around them ends in the third page. */
TEST_WITH(end_of_a_call_beyond_known_lines, setup, teardown)
{
	const struct replay_page *page;
	const struct replay_line *line;
	uint64_t end;

	add_many();
	open_view();
	assert_int_equal(replay_pages_extend(&view.pages, 1, NULL), 0);
	assert_int_equal(view.pages.marks.nr, 3);
	assert_false(view.pages.is_complete);
	assert_int_equal(replay_pages_end_of(&view.pages, 0, &end, NULL), 0);
	assert_true(view.pages.is_complete);
	/* Only the line of f() comes after the end of a(). */
	assert_int_equal(end + 2, view.pages.nr_lines);
	line = replay_pages_line(&view.pages, end, &page);
	assert_non_null(line);
	assert_int_equal(line->kind, REPLAY_EXIT);
	assert_int_equal(line->depth, 0);
}

TEST_WITH(folds_all_beyond_known_lines, setup, teardown)
{
	size_t nr;

	add_many();
	open_view();
	view.view.cursor = 0;
	view_act(&view.view, TUI_FOLD_ALL);
	nr = view.nr_folds;
	assert_true(view.pages.is_complete);
	view_act(&view.view, TUI_UNFOLD_ALL);
	view_act(&view.view, TUI_FOLD_ALL);
	assert_int_equal(view.nr_folds, nr);
}

TEST_WITH(kept_lines_are_the_same, setup, teardown)
{
	struct strbuf kept = { 0 };

	add_many();
	begin();
	assert_true(view.pages.can_seek && view.pages.marks.nr > 2);
	view_text(&view.view, &text);
	replay_view_deinit(&view);
	shown_end(&shown);
	/*
	 * This limit drops no call. Yet pages cannot be read on their own, since the limit must
	 * have seen the calls before them.
	 */
	shown.stages.stages.depth = 100;
	begin();
	assert_true(!view.pages.can_seek);
	assert_string_equal(view_text(&view.view, &kept), strbuf_str(&text));
	strbuf_deinit(&kept);
}

TEST_WITH(ends_over_many_pages, setup, teardown)
{
	add_many();
	begin();

	size_t nr = view.view.ops->nr_lines(&view.view);

	view.view.cursor = nr - 2;
	view_act(&view.view, TUI_PREV_SIBLING);
	assert_int_equal(view.view.cursor, nr - 2);
	view_act(&view.view, TUI_NEXT_SIBLING);
	assert_int_equal(view.view.cursor, nr - 1);
	view_act(&view.view, TUI_PREV_SIBLING);
	assert_int_equal(view.view.cursor, 0);
	view_act(&view.view, TUI_FOLD);
	assert_string_equal(view_text(&view.view, &text), "> a() { ... }\n  f();\n");
}

TEST_WITH(nothing_was_called, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "", 1000);
	begin();
	assert_int_equal(view.view.ops->nr_lines(&view.view), 0);
	for (enum tui_act act = TUI_FOLD; act <= TUI_NEXT_SLOW; act++)
		view.view.ops->act(&view.view, act, NULL);
	assert_int_equal(view.view.ops->nr_lines(&view.view), 0);
}
