/* Tests of cmds/tui/report_view.c: the lines of the table, their order, and the search in them. */
#include "tests/unit/lib/unit.h"

#include "cmds/tui/report_view.h"
#include "tests/unit/cmds/tui/view_text.h"
#include "tests/unit/lib/read/shown.h"

static struct shown shown;
static struct report_view view;
static struct strbuf text;

static int setup(void **state)
{
	shown_init(&shown);
	view = (struct report_view){ 0 };
	text = (struct strbuf){ 0 };
	return 0;
}

static void begin(const char *calls)
{
	const struct report_config config = { .fields = "total,call" };
	struct report wanted;

	recording_add_task(&shown.rec, 100, calls, 1000);
	assert_int_equal(report_init(&wanted, &config, NULL), 0);
	report_configure(&wanted, &shown.stages);
	shown_begin(&shown);
	assert_int_equal(aggregate_init(&view.agg, &shown.pipe, NULL), 0);
	report_prepare(&wanted, &view.agg);
	shown_run(&shown, aggregate_events, &view.agg);
	report_deinit(&wanted);
	assert_int_equal(report_view_init(&view, &config, NULL), 0);
}

static int teardown(void **state)
{
	report_view_deinit(&view);
	shown_end(&shown);
	strbuf_deinit(&text);
	shown_deinit(&shown);
	return 0;
}

TEST_WITH(order, setup, teardown)
{
	begin("a{b{}c{d{}}b{}}");
	assert_string_equal(view_text(&view.view, &text), ">     0.090 us           1  a\n"
							  "      0.030 us           1  c\n"
							  "      0.020 us           2  b\n"
							  "      0.010 us           1  d\n");
	view_act(&view.view, TUI_NEXT_SORT);
	assert_int_equal(view.sorted, 1);
	assert_memory_equal(view_text(&view.view, &text), ">     0.020 us           2  b\n", 29);
	view_act(&view.view, TUI_NEXT_SORT);
	assert_int_equal(view.sorted, 0);
}

TEST_WITH(ways_to_a_function, setup, teardown)
{
	begin("a{b{}c{d{}}b{}}");
	view.view.cursor = 1;
	report_view_find(&view, "d");
	assert_int_equal(view.view.cursor, 3);
	/* The cursor's line stays at the same row of the screen. */
	assert_int_equal(view.view.top, 2);
	report_view_find(&view, "nosuch");
	assert_int_equal(view.view.cursor, 3);
	assert_true(report_view_go(&view, view.view.ops->func_at(&view.view, 0), 2));
	assert_int_equal(view.view.cursor, 0);
	assert_true(view.view.ops->has_word(&view.view, 2, "B") == false);
	assert_true(view.view.ops->has_word(&view.view, 2, "b"));
	assert_null(view.view.ops->func_at(&view.view, 4));
}
