/*
 * Calls that are too deep, of too small functions, or into libraries, and unwanted events: all
 * these are left out.
 */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/events.h"
#include "tests/unit/lib/read/recording.h"
#include "utils/pipeline/kinds/event_choice.h"
#include "utils/pipeline/stages/stage.h"

static struct stage_config config;

static int setup(void **state)
{
	stage_config_init(&config);
	return 0;
}

static void run(const char *in, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct event events[100];
	size_t nr = events_parse(in, events, ARRAY_SIZE(events));

	events_put(events, stg_select(&config, events, nr), &text);
	assert_string_equal(strbuf_str(&text), expected);
}

TEST_WITH(the_stage_runs_when_there_is_something_to_do, setup, NULL)
{
	assert_false(stg_select_is_needed(&config));
	config.is_off = true;
	assert_true(stg_select_is_needed(&config));
	setup(NULL);
	/* No call is deeper than an event can state. */
	config.depth = UINT16_MAX + 1;
	assert_false(stg_select_is_needed(&config));
	config.depth = UINT16_MAX;
	assert_true(stg_select_is_needed(&config));
	setup(NULL);
	config.size_filter = 1;
	assert_true(stg_select_is_needed(&config));
	setup(NULL);
	config.show_libcalls = false;
	assert_true(stg_select_is_needed(&config));
	setup(NULL);
	config.time_filter_ns = 1;
	assert_false(stg_select_is_needed(&config));
	config.wants = STAGE_WANTS_ENDS;
	assert_true(stg_select_is_needed(&config));
	config.time_filter_ns = 0;
	assert_false(stg_select_is_needed(&config));
}

TEST_WITH(everything_passes_when_nothing_was_asked_for, setup, NULL)
{
	run("a{ B{ B} 'c{ 'c} ! * ~ ~P ^P a}",
	    "a{@1000.0 B{@1010.1 B}@1020.1 'c{@1030.1 'c}@1040.1 !@1050.1 *@1060.1 ~@1070.1 "
	    "~@1080.1P ^@1090.1P a}@1100.0");
	config.is_off = true;
	run("a{ ! a}", "");
}

TEST_WITH(calls_are_shown_to_a_depth, setup, NULL)
{
	config.depth = 2;
	run("a{ b{ c{ *.3 c} *.2 b} *.1 ! a} *.0 ~.1 ~.2",
	    "a{@1000.0 b{@1010.1 b}@1060.1 *@1070.1 !@1080.1 a}@1090.0 *@1100.0 ~@1110.1");
	config.depth = 1;
	run("a{ b{ b} *.1 *.0 a}", "a{@1000.0 *@1040.0 a}@1050.0");
	/* If the entry of a call was not recorded, the depth comes from the record of its end. */
	config.depth = 2;
	run("a}.0:2U a}.0:1U a}.0:2 a{.1:5", "a}@1010.0:1U a}@1020.0:2 a{@1030.1:5");
}

TEST_WITH(small_functions_and_library_calls, setup, NULL)
{
	config.size_filter = 17;
	run("a{ B{ c{ c} B} a}", "a{@1000.0 c{@1020.2 c}@1030.2 a}@1050.0");
	config.size_filter = 16;
	run("a{ B{ c{ c} B} a}", "a{@1000.0 B{@1010.1 c{@1020.2 c}@1030.2 B}@1040.1 a}@1050.0");
	config.size_filter = 64;
	run("a{ B{ B} a}", "a{@1000.0 a}@1030.0");
	config.size_filter = 65;
	run("a{ B{ B} a}", "");
	config.size_filter = 0;
	config.show_libcalls = false;
	run("a{ B{ c{ c} B} a}", "a{@1000.0 c{@1020.2 c}@1030.2 a}@1050.0");
}

TEST_WITH(functions_without_symbols_have_no_size, setup, NULL)
{
	struct func func = { .name = "x" };
	struct event event = { .type = EVENT_ENTRY, .func = &func };

	config.size_filter = 1000;
	assert_int_equal(stg_select(&config, &event, 1), 1);
}

/* A view that adds up times sees only ends of calls, so their durations count. */
TEST_WITH(short_calls_are_known_by_their_ends, setup, NULL)
{
	config.time_filter_ns = 30;
	run("a}=29 a}=30 ^=29", "a}@1000.0=29/0 a}@1010.0=30/0 ^@1020.0=29/0");
	config.wants = STAGE_WANTS_ENDS;
	run("a}=29 a}=30 a}=31 a}=-29 a}=-30", "a}@1010.0=30/0 a}@1020.0=31/0 a}@1040.0=-30/0");
	run("a}=29F a}=29U a}=29R ^=29 ^=30 ^=29U ~ *",
	    "a}@1000.0=29/0F a}@1010.0=29/0U ^@1040.0=30/0 ^@1050.0=29/0U ~@1060.0 *@1070.0");
}

TEST_WITH(what_is_open_is_judged_as_far_as_it_can_be, setup, NULL)
{
	const struct func *func = events_func("a");
	const struct func *lib = events_func("B");

	config.time_filter_ns = 100;
	config.wants = STAGE_WANTS_ENDS;
	assert_true(stg_select_keeps_open(&config, func, 1000));
	config.depth = 3;
	assert_true(stg_select_keeps_open(&config, func, 2));
	assert_false(stg_select_keeps_open(&config, func, 3));
	config.show_libcalls = false;
	assert_false(stg_select_keeps_open(&config, lib, 2));
	assert_true(stg_select_keeps_open(&config, func, 2));
	config.show_libcalls = true;
	config.size_filter = 17;
	assert_false(stg_select_keeps_open(&config, lib, 2));
	assert_true(stg_select_keeps_open(&config, func, 2));
	config.is_off = true;
	assert_false(stg_select_keeps_open(&config, func, 2));
}

TEST_WITH(events_outside_are_shown_when_they_are_asked_for, setup, NULL)
{
	run("*O ~O * !O", "*@1020.0 !@1030.0O");
	config.show_outside = true;
	run("*O ~O * !O", "*@1000.0O ~@1010.0O *@1020.0 !@1030.0O");
}

/* A view of lines must know that there was an event: the call around it is no leaf. */
TEST_WITH(hidden_events, setup, NULL)
{
	config.show_events = false;
	run("a{ *#5 ~ ^ ! a}", "a{@1000.0 !@1040.1 a}@1050.0");
	config.wants = STAGE_WANTS_DEPTHS;
	run("a{ *#5 ~ ^ ! a}", "a{@1000.0 ?@1010.1 ?@1020.1 ?@1030.1 !@1040.1 a}@1050.0");
	/* Events that were requested for single functions: read=, and a watched variable. */
	run("*#100002 *#100004 *#100012 *#100037", "*@1000.0 *@1010.0 *@1020.0 ?@1030.0");
}

TEST_WITH(times_off_the_cpu, setup, NULL)
{
	config.sched = STAGE_SCHED_NONE;
	run("~ ^ ~P ^P *", "*@1040.0");
	config.sched = STAGE_SCHED_WILLING;
	run("~ ^ ~P ^P *", "~@1000.0 ^@1010.0 *@1040.0");
	config.sched = STAGE_SCHED_ALL;
	run("~ ^ ~P ^P *", "~@1000.0 ^@1010.0 ~@1020.0P ^@1030.0P *@1040.0");
}
