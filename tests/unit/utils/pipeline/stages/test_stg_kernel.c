/*
 * Calls of the kernel outside of the program's functions, and views that show only calls of the
 * kernel.
 */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/events.h"
#include "utils/pipeline/stages/stage.h"

static struct stage_config config;
static struct stg_kernel stage;

static int setup(void **state)
{
	stage_config_init(&config);
	stage = (struct stg_kernel){ .config = &config };
	return 0;
}

static void run(const char *in, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct event events[100];
	size_t nr = events_parse(in, events, ARRAY_SIZE(events));

	events_put(events, stg_kernel(&stage, events, nr), &text);
	assert_string_equal(strbuf_str(&text), expected);
}

TEST_WITH(calls_within_the_program_stay, setup, NULL)
{
	run("a{ 'b{ 'c{ 'c} 'b} * a}",
	    "a{@1000.0 'b{@1010.1 'c{@1020.2 'c}@1030.2 'b}@1040.1 *@1050.1 a}@1060.0");
	assert_int_equal(stage.depth, 0);
}

TEST_WITH(calls_outside_go_with_what_is_in_them, setup, NULL)
{
	run("'b{O 'c{ * 'c} 'd{ 'd} 'b} 'e{O ~ ^ 'e} * a{ a}",
	    "*@1020.0O ~@1080.0O ^@1090.0O *@1110.0 a{@1120.0 a}@1130.0");
	assert_int_equal(stage.depth, 0);
	/* The depth goes on from batch to batch. */
	run("'b{O 'c{", "");
	assert_int_equal(stage.depth, 2);
	run("'c}.1 *.1:3 'b} 'e}", "*@1010.0O 'e}@1030.0");
	assert_int_equal(stage.depth, 0);
	/* A call of the program among calls of the kernel is kept, and changes nothing. */
	run("'b{O a{ a} 'b} a{ 'b{ 'b} a}", "a{@1040.0 'b{@1050.1 'b}@1060.1 a}@1070.0");
}

TEST_WITH(who_wants_calls_outside_gets_them, setup, NULL)
{
	config.show_kernel_outside = true;
	run("'b{O 'c{ *.2 'c} 'b} a{ 'b{ 'b} a} *",
	    "'b{@1000.0O 'c{@1010.1 *@1020.2 'c}@1030.1 'b}@1040.0 a{@1050.0 'b{@1060.1 'b}@1070.1 "
	    "a}@1080.0 *@1090.0");
}

TEST_WITH(who_wants_the_kernels_calls_only_gets_no_others, setup, NULL)
{
	config.show_kernel_only = true;
	run("'b{O 'b} a{ 'b{ ~ 'b} ! a} *", "'b{@1030.1 ~@1040.2 'b}@1050.1 !@1060.1 *@1080.0");
}

TEST_WITH(the_stage_runs_when_there_is_something_to_do, setup, NULL)
{
	struct stg_calls calls = { 0 };

	assert_false(stg_kernel_is_needed(&stage, &calls));
	calls.has_outside = true;
	assert_true(stg_kernel_is_needed(&stage, &calls));
	calls.has_outside = false;
	stage.depth = 1;
	assert_true(stg_kernel_is_needed(&stage, &calls));
	stage.depth = 0;
	config.show_kernel_only = true;
	assert_true(stg_kernel_is_needed(&stage, &calls));
}
