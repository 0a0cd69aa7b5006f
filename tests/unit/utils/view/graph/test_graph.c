/* Call trees as text, for recordings made of strings. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "tests/unit/lib/read/shown.h"
#include "utils/format/record.h"
#include "utils/view/graph/graph.h"

static struct shown shown;
static struct graph_config config;

static int setup(void **state)
{
	shown_init(&shown);
	config = (struct graph_config){ 0 };
	return 0;
}

static int teardown(void **state)
{
	shown_deinit(&shown);
	return 0;
}

static int show_calls(const struct graph *graph)
{
	struct tree tree cleanup_tree = { 0 };

	assert_int_equal(tree_init(&tree, &shown.pipe, NULL), 0);
	graph_prepare(graph, &tree);
	shown_run(&shown, tree_events, &tree);
	assert_int_equal(tree_finish(&tree, NULL), 0);
	return graph_show(graph, &tree, &shown.sink, NULL);
}

static int show_tasks(const struct graph *graph)
{
	struct graph_tasks tasks cleanup(graph_tasks_deinit) = { 0 };

	assert_int_equal(graph_tasks_init(&tasks, &shown.pipe, NULL), 0);
	shown_run(&shown, graph_tasks_events, &tasks);
	return graph_tasks_show(graph, &tasks, &shown.sink, NULL);
}

/* Returns the text without its title, which has a session id. */
static const char *run_for(int result)
{
	struct graph graph;

	assert_int_equal(graph_init(&graph, &config, NULL), 0);
	tree_configure(&shown.stages);
	shown_begin(&shown);
	assert_int_equal(config.is_by_task ? show_tasks(&graph) : show_calls(&graph), result);

	const char *text = shown_end(&shown);

	return *text == '#' ? strchr(text, '\n') + 1 : text;
}

static const char *run(void)
{
	return run_for(!config.is_by_task);
}

TEST_WITH(whole_program, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{}c{d{e{}}}b{}}f{}", 1000);
	assert_string_equal(run(), "========== FUNCTION CALL GRAPH ==========\n"
				   "# TOTAL TIME   FUNCTION\n"
				   "    0.120 us : (1) prog\n"
				   "    0.110 us :  +-(1) a\n"
				   "    0.020 us :  |  +-(2) b\n"
				   "             :  |  | \n"
				   "    0.050 us :  |  +-(1) c\n"
				   "    0.030 us :  |    (1) d\n"
				   "    0.010 us :  |    (1) e\n"
				   "             :  | \n"
				   "    0.010 us :  +-(1) f\n"
				   "\n");
	config.fields = "none";
	assert_string_equal(run(), "========== FUNCTION CALL GRAPH ==========\n"
				   "(1) prog\n"
				   " +-(1) a\n"
				   " |  +-(2) b\n"
				   " |  | \n"
				   " |  +-(1) c\n"
				   " |    (1) d\n"
				   " |    (1) e\n"
				   " | \n"
				   " +-(1) f\n"
				   "\n");
}

TEST_WITH(one_function, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{}c{b{b{}d{}}}}", 1000);
	config.func = "b";
	assert_string_equal(run(), "=============== BACKTRACE ===============\n"
				   " backtrace #0: hit 1, time   0.050 us\n"
				   "   [0] a (0x401004)\n"
				   "   [1] c (0x401084)\n"
				   "   [2] b (0x401044)\n"
				   "\n"
				   " backtrace #1: hit 1, time   0.010 us\n"
				   "   [0] a (0x401004)\n"
				   "   [1] b (0x401044)\n"
				   "\n"
				   "========== FUNCTION CALL GRAPH ==========\n"
				   "# TOTAL TIME   FUNCTION\n"
				   "    0.060 us : (2) b\n"
				   "    0.010 us :  +-(1) b\n"
				   "             :  | \n"
				   "    0.010 us :  +-(1) d\n"
				   "\n");
	config.func = "z";
	assert_string_equal(run_for(-ENOENT), "");
}

TEST_WITH(several_functions_of_one_name, setup, teardown)
{
	shown.rec.symbols = "# path name: /x/prog\n"
			    "1000 40 T _ZN1a1m1f17h0123456789abcdefE\n"
			    "1040 40 T _ZN1b1m1f17h0123456789abcdefE\n"
			    "1080 40 T c\n";
	recording_add_task(&shown.rec, 100, "b{c{}}a{}", 1000);
	config.func = "m::f";
	config.fields = "none";
	assert_string_equal(strstr(run(), "========== FUNCTION"),
			    "========== FUNCTION CALL GRAPH ==========\n"
			    "(1) b::m::f\n"
			    "(1) c\n"
			    "\n"
			    "========== FUNCTION CALL GRAPH ==========\n"
			    "(1) a::m::f\n"
			    "\n");
}

TEST_WITH(all_fields, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{ }b{}}", 1000);
	config.fields = "all";
	assert_non_null(strstr(
		run(), "# TOTAL TIME   SELF TIME     ADDRESS     TOTAL AVG   TOTAL MAX   TOTAL MIN"
		       "    SELF AVG    SELF MAX    SELF MIN   FUNCTION\n"
		       "    1.050 us                         0    1.050 us    1.050 us    1.050 us"
		       "                                     : (1) prog\n"
		       "    1.050 us    0.030 us        401004    1.050 us    1.050 us    1.050 us"
		       "    0.030 us    0.030 us    0.030 us : (1) a\n"
		       "    1.020 us    1.020 us        401044    0.510 us    1.010 us    0.010 us"
		       "    0.510 us    1.010 us    0.010 us : (2) b\n"));
}

TEST_WITH(several_tasks_are_one_tree, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{c{}}", 2000);
	recording_add_task(&shown.rec, 101, "a{b{}}", 1000);
	assert_non_null(strstr(run(), "    0.060 us : (2) a\n"
				      "    0.010 us :  +-(1) b\n"
				      "             :  | \n"
				      "    0.010 us :  +-(1) c\n"));
}

TEST_WITH(calls_that_never_return, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{}c{", 1000);
	assert_non_null(strstr(run(), "    0.030 us : (1) a\n"
				      "    0.010 us :  +-(1) b\n"
				      "             :  | \n"
				      "             :  +-(1) c\n"));
}

/* The range begins within calls, which are known from their returns. */
TEST_WITH(a_range_begins_inside, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{c{}c{}d{}}e{}}", 1000);
	shown.stages.range.start = (struct range_edge){ .time_ns = 1040, .is_set = true };
	assert_non_null(strstr(run(), "    0.070 us : (1) a\n"
				      "    0.040 us :  +-(1) b\n"
				      "    0.010 us :  |  +-(1) c\n"
				      "             :  |  | \n"
				      "    0.010 us :  |  +-(1) d\n"
				      "             :  | \n"
				      "    0.010 us :  +-(1) e\n"));
}

TEST_WITH(paths_without_end, setup, teardown)
{
	struct strbuf records cleanup_strbuf = { 0 };
	struct record r = { .time_ns = 1000, .data = record_data(RECORD_ENTRY, 0, 0x401004) };

	for (int i = 0; i < 30000; i++, r.time_ns += 10)
		strbuf_add(&records, &r, sizeof(r));
	recording_add_task(&shown.rec, 100, "", 1000);
	recording_add_file(&shown.rec, "100.dat", records.data, records.len);
	config.fields = "none";
	assert_int_equal(strlen(run()), 42 + strlen("(1) prog\n") + 30000 * strlen("(1) a\n") + 1);
}

TEST_WITH(tasks, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{}}", 1000);
	recording_add_task(&shown.rec, 101, "a{ }", 2000);
	config.is_by_task = true;
	assert_string_equal(run_for(0), "========== TASK GRAPH ==========\n"
					"# TOTAL TIME   SELF TIME     TID      TASK NAME\n"
					"    0.030 us    0.030 us  [    100] : prog\n"
					"    1.010 us    1.010 us  [    101] :  +-prog\n"
					"\n");
}

TEST_WITH(bad_field, setup, teardown)
{
	struct graph graph;
	struct uft_err err = { 0 };

	config.fields = "total,bogus";
	assert_int_equal(graph_init(&graph, &config, &err), -ERR_USAGE);
	assert_non_null(strstr(err.text, "'bogus'"));
}
