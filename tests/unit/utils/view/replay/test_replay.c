/* The lines of replay, for recordings made of strings. */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/shown.h"
#include "utils/view/replay/replay.h"

static struct shown shown;
static struct replay_config config;

static int setup(void **state)
{
	shown_init(&shown);
	config = (struct replay_config){
		.merges_leaves = true,
		.shows_comments = true,
		.column_offset = 8,
	};
	shown.stages.stages.wants = STAGE_WANTS_DEPTHS;
	return 0;
}

static int teardown(void **state)
{
	shown_deinit(&shown);
	return 0;
}

static const char *replay(void)
{
	struct replay view;

	shown_begin(&shown);
	assert_int_equal(replay_init(&view, &config, &shown.pipe, &shown.sink, NULL), 0);
	shown_run(&shown, replay_events, &view);
	replay_finish(&view);
	replay_deinit(&view);
	return shown_end(&shown);
}

TEST_WITH(leaves_and_trees, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{}c{d{}}}", 1000);
	assert_string_equal(replay(), "# DURATION     TID      FUNCTION\n"
				      "            [    100] | a() {\n"
				      "   0.010 us [    100] |   b();\n"
				      "            [    100] |   c() {\n"
				      "   0.010 us [    100] |     d();\n"
				      "   0.030 us [    100] |   } /* c */\n"
				      "   0.070 us [    100] | } /* a */\n");
	config.shows_comments = false;
	config.merges_leaves = false;
	assert_string_equal(replay(), "# DURATION     TID      FUNCTION\n"
				      "            [    100] | a() {\n"
				      "            [    100] |   b() {\n"
				      "   0.010 us [    100] |   }\n"
				      "            [    100] |   c() {\n"
				      "            [    100] |     d() {\n"
				      "   0.010 us [    100] |     }\n"
				      "   0.030 us [    100] |   }\n"
				      "   0.070 us [    100] | }\n");
}

TEST_WITH(interrupted_leaf, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{ }", 1000);
	recording_add_task(&shown.rec, 101, "b{}", 1500);
	config.has_task_newline = true;
	assert_string_equal(replay(), "# DURATION     TID      FUNCTION\n"
				      "            [    100] | a() {\n"
				      "                      | \n"
				      "   0.010 us [    101] | b();\n"
				      "                      | \n"
				      "   1.010 us [    100] | } /* a */\n");
	config.has_task_newline = false;
	config.is_column_view = true;
	config.fields = "tid";
	assert_string_equal(replay(), "#   TID      FUNCTION\n"
				      " [    100] | a() {\n"
				      " [    101] |                 b();\n"
				      " [    100] | } /* a */\n");
}

TEST_WITH(all_fields, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{}}", 1000);
	config.fields = "all";
	assert_string_equal(
		replay(),
		"# DURATION     TID       ADDRESS        TIMESTAMP      TIMEDELTA   ELAPSED  "
		"      TASK NAME      MODULE NAME   FUNCTION\n"
		"            [    100]       401004        0.000001000                       "
		"           prog             prog | a() {\n"
		"   0.010 us [    100]       401044        0.000001010   0.010 us   0.010 us "
		"           prog             prog |   b();\n"
		"   0.030 us [    100]       401004        0.000001030   0.020 us   0.030 us "
		"           prog             prog | } /* a */\n");
	config.fields = "none";
	assert_string_equal(replay(), "a() {\n  b();\n} /* a */\n");
}

TEST_WITH(what_remains, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{", 1000);
	assert_string_equal(replay(), "# DURATION     TID      FUNCTION\n"
				      "            [    100] | a() {\n"
				      "            [    100] |   b() {\n"
				      "\n"
				      "utrail stopped tracing with remaining functions\n"
				      "================================================\n"
				      "task: 100\n"
				      "[1] b\n"
				      "[0] a\n"
				      "\n");
}

TEST_WITH(lost_and_events, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{*!1b{}", 1000);
	assert_string_equal(replay(), "# DURATION     TID      FUNCTION\n"
				      "            [    100] | a() {\n"
				      "            [    100] |   /* user_event:1000001 */\n"
				      "            [    100] |     /* LOST 7 records!! */\n"
				      "   0.010 us [    100] |     b();\n"
				      "\n"
				      "utrail stopped tracing with remaining functions\n"
				      "================================================\n"
				      "task: 100\n"
				      "[0] a\n"
				      "\n");
}

TEST_WITH(scheduler, setup, teardown)
{
	struct strbuf perf cleanup_strbuf = { 0 };

	recording_add_task(&shown.rec, 100, "a{ b{ } }", 1000);
	perf_add_sched(&perf, 'o', 100, 1500);
	perf_add_sched(&perf, 'i', 100, 1600);
	perf_add_sched(&perf, 'p', 100, 2500);
	perf_add_sched(&perf, 'i', 100, 2700);
	recording_add_file(&shown.rec, "perf-cpu0.dat", perf.data, perf.len);
	assert_string_equal(replay(),
			    "# DURATION     TID      FUNCTION\n"
			    "            [    100] | a() {\n"
			    "   0.100 us [    100] |   /* linux:schedule */\n"
			    "            [    100] |   b() {\n"
			    "   0.200 us [    100] |     /* linux:schedule (pre-empted) */\n"
			    "   1.010 us [    100] |   } /* b */\n"
			    "   3.030 us [    100] | } /* a */\n");
	/* An event that is not shown has an effect: b is not a leaf. */
	shown.stages.stages.sched = STAGE_SCHED_WILLING;
	assert_non_null(strstr(replay(), "  b() {\n   1.010 us"));
}

/* No line of extern.dat is lost: neither before another such line, nor at the end. */
TEST_WITH(lines_of_users, setup, teardown)
{
	static const char text[] = "0.000001005 one\n0.000001006 two\n0.000001007 three\n"
				   "0.000009000 four\n0.000009000 five\n";

	shown.stages.reads_extern = true;
	recording_add_task(&shown.rec, 100, "a{b{}}", 1000);
	recording_add_file(&shown.rec, "extern.dat", text, strlen(text));
	assert_string_equal(replay(), "# DURATION     TID      FUNCTION\n"
				      "            [    100] | a() {\n"
				      "            [    100] | /* external-data: one */\n"
				      "            [    100] | /* external-data: two */\n"
				      "            [    100] | /* external-data: three */\n"
				      "   0.010 us [    100] |   b();\n"
				      "   0.030 us [    100] | } /* a */\n"
				      "            [    100] | /* external-data: four */\n"
				      "            [    100] | /* external-data: five */\n");
}

TEST_WITH(flat, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{b{}}", 1000);
	config.is_flat = true;
	shown.stages.stages.wants = STAGE_WANTS_CALLS;
	assert_string_equal(replay(), "\n"
				      "[0] ==> 100/0: ip (a), time (1000)\n"
				      "[1] ==> 100/1: ip (b), time (1010)\n"
				      "[2] <== 100/1: ip (b), time (1020:10)\n"
				      "[3] <== 100/0: ip (a), time (1030:30)\n");
}

TEST_WITH(nothing_to_show, setup, teardown)
{
	int tids[] = { 5 };

	recording_add_task(&shown.rec, 100, "a{b{}}", 1000);
	shown.stages.tids = tids;
	shown.stages.nr_tids = 1;
	assert_string_equal(replay(), "\n");
}

/* If there are events, the header is printed even when all events are hidden, as in uftrace. */
TEST_WITH(only_hidden_events, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "**", 1000);
	shown.stages.stages.show_events = false;
	assert_string_equal(replay(), "# DURATION     TID      FUNCTION\n");
	shown.stages.stages.time_filter_ns = 1000000000;
	assert_string_equal(replay(), "# DURATION     TID      FUNCTION\n");
	shown.stages.range.start.is_set = true;
	shown.stages.range.start.time_ns = 2000;
	assert_string_equal(replay(), "\n");
}

/*
 * When -t hides all calls, replay prints no header. If the recording has events, too, it prints a
 * header, even if the events are not shown.
 */
TEST_WITH(only_short_calls, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{}", 1000);
	shown.stages.stages.time_filter_ns = 1000000000;
	assert_string_equal(replay(), "\n");
	recording_add_task(&shown.rec, 101, "*", 1000);
	shown.stages.stages.show_events = false;
	assert_string_equal(replay(), "# DURATION     TID      FUNCTION\n");
}
