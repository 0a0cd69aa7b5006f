/*
 * Tests of cmds/tui/graph_view.c: lines, folds and moves through a call graph. Folds and the cursor
 * stay when the recording is read again.
 */
#include "tests/unit/lib/unit.h"

#include "cmds/tui/graph_view.h"
#include "tests/unit/cmds/tui/view_text.h"
#include "tests/unit/lib/read/shown.h"
#include "utils/view/graph/graph_columns.h"

static struct shown shown;
static struct graph graph;
static struct tree tree;
static struct graph_view view;
static struct strbuf text;

static int setup(void **state)
{
	const struct graph_config config = { .fields = "none" };

	shown_init(&shown);
	text = (struct strbuf){ 0 };
	return graph_init(&graph, &config, NULL);
}

static void open_view(struct graph_view *to)
{
	*to = (struct graph_view){ .graph = &graph, .modules = &shown.data.modules };
	assert_int_equal(graph_view_program(to, tree.roots[0], "prog", NULL), 0);
}

static void read_calls(const char *calls)
{
	recording_add_task(&shown.rec, 100, calls, 1000);
	tree_configure(&shown.stages);
	shown_begin(&shown);
	assert_int_equal(tree_init(&tree, &shown.pipe, NULL), 0);
	tree.wants_details = true;
	shown_run(&shown, tree_events, &tree);
	assert_int_equal(tree_finish(&tree, NULL), 0);
}

static void begin(const char *calls)
{
	read_calls(calls);
	open_view(&view);
}

static int teardown(void **state)
{
	graph_view_deinit(&view);
	tree_deinit(&tree);
	shown_end(&shown);
	strbuf_deinit(&text);
	shown_deinit(&shown);
	return 0;
}

TEST_WITH(folds_and_ways, setup, teardown)
{
	begin("a{b{}c{d{e{}}}b{}}f{}");
	assert_string_equal(view_text(&view.view, &text), ">  : (1) prog\n"
							  "   :  +-(1) a\n"
							  "   :  |  +-(2) b\n"
							  "   :  |  |\n"
							  "   :  |  +-(1) c\n"
							  "   :  |    (1) d\n"
							  "   :  |    (1) e\n"
							  "   :  |\n"
							  "   :  +-(1) f\n");
	view_act(&view.view, TUI_LONGEST_CHILD);
	view_act(&view.view, TUI_LONGEST_CHILD);
	assert_string_equal(view.view.ops->func_at(&view.view, view.view.cursor)->name, "c");
	view_act(&view.view, TUI_PREV_SIBLING);
	assert_string_equal(view_text(&view.view, &text), "   : (1) prog\n"
							  "   :  +-(1) a\n"
							  ">  :  |  +-(2) b\n"
							  "   :  |  |\n"
							  "   :  |  +>(1) c\n"
							  "   :  |\n"
							  "   :  +-(1) f\n");
	view_act(&view.view, TUI_PARENT);
	view_act(&view.view, TUI_FOLD);
	assert_string_equal(view_text(&view.view, &text), "   : (1) prog\n"
							  ">  :  +>(1) a\n"
							  "   :  |\n"
							  "   :  +-(1) f\n");
	view_act(&view.view, TUI_UNFOLD_ALL);
	assert_int_equal(view.nr_shown, 9);
}

/* The second reading has the calls of the first one, and more. */
TEST_WITH(another_reading_keeps_folds_and_cursor, setup, teardown)
{
	struct graph_view before;

	begin("a{b{}c{d{}}}f{g{}}");
	view_act(&view.view, TUI_LONGEST_CHILD);
	view_act(&view.view, TUI_FOLD);
	view.view.cursor = view.nr_shown - 1;
	view_act(&view.view, TUI_FOLD);
	view.view.cursor = view.nr_shown - 1;
	view.view.top = view.view.cursor - 1;
	before = view;
	view = (struct graph_view){ 0 };

	/* The nodes of the first reading are needed until their folds are carried over. */
	struct tree first = tree;
	struct shown early = shown;

	shown_init(&shown);
	begin("a{b{}h{}c{d{}e{}}}k{}f{h{}g{}}");
	assert_int_equal(graph_view_carry(&view, &before, NULL), 0);
	assert_string_equal(view_text(&view.view, &text), "   : (1) prog\n"
							  "   :  +>(1) a\n"
							  "   :  |\n"
							  "   :  +-(1) k\n"
							  "   :  |\n"
							  "   :  +-(1) f\n"
							  "   :     +-(1) h\n"
							  "   :     |\n"
							  ">  :     +-(1) g\n");
	assert_int_equal(view.view.top, view.view.cursor - 1);
	graph_view_deinit(&before);
	tree_deinit(&first);
	early.out = (struct strbuf){ 0 };
	pipeline_close(&early.pipe);
	sink_deinit(&early.sink);
	data_close(&early.data);
	recording_deinit(&early.rec);
}

TEST_WITH(nothing_was_called, setup, teardown)
{
	begin("");
	assert_string_equal(view_text(&view.view, &text), ">  : (0) prog\n");
	for (enum tui_act act = TUI_FOLD; act <= TUI_LONGEST_CHILD; act++)
		view_act(&view.view, act);
	assert_string_equal(view_text(&view.view, &text), ">  : (0) prog\n");
}
