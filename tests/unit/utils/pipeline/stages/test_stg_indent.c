/* The shown depth, counted by the events that other stages have let through. */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/events.h"
#include "utils/pipeline/stages/stage.h"
#include "utils/pipeline/stages/stg_filter.h"

struct scene {
	struct stage_config config;
	struct task task;
	struct stg_calls calls;
	struct stg_filter filter;
	struct stg_indent stage;
};

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	stage_config_init(&s->config);
	s->calls.config = &s->config;
	s->calls.task = &s->task;
	stg_indent_init(&s->stage, &s->calls, &s->filter);
}

static void run(struct scene *s, const char *in, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct event events[100];
	size_t nr = events_parse(in, events, ARRAY_SIZE(events));

	events_put(events, stg_indent(&s->stage, events, nr), &text);
	assert_string_equal(strbuf_str(&text), expected);
}

TEST(a_stage_begins_at_the_margin)
{
	struct scene s;

	begin(&s);
	assert_ptr_equal(s.stage.calls, &s.calls);
	assert_ptr_equal(s.stage.filter, &s.filter);
	assert_int_equal(s.stage.exec_ns, UINT64_MAX);
	assert_int_equal(s.stage.depth, 0);
	assert_false(s.stage.has_first);
	assert_false(s.stage.wants_depth);
}

/* Calls within a missing call are shown further to the left. */
TEST(calls_are_counted_again)
{
	struct scene s;

	begin(&s);
	run(&s, "a{.0 c{.2 d{.5 *.6 d}.5 c}.2 a}.0 *.0",
	    "a{@1000.0 c{@1010.2:1 d{@1020.5:2 *@1030.6:3 d}@1040.5:2 c}@1050.2:1 a}@1060.0 "
	    "*@1070.0");
	run(&s, "a{.3 b{.4", "a{@1000.3:0 b{@1010.4:1");
	assert_int_equal(s.stage.depth, 2);
	run(&s, "~.1 ^.1 c{.9", "~@1000.1:2 ^@1010.1:2 c{@1020.9:2");
	run(&s, "c}.0 b}.0 a}.0 a}.0 b{.3",
	    "c}@1000.0:2 b}@1010.0:1 a}@1020.0 a}@1030.0 b{@1040.3:0");
}

/* A task that begins within open calls is indented by the number of those calls that are shown. */
TEST(a_task_that_begins_within_calls_begins_as_deep)
{
	struct scene s;

	begin(&s);
	s.calls.inherited_depth = 3;
	run(&s, "a{.0:3 a}.0:3 b}.0:2 c}.0:1", "a{@1000.0:3 a}@1010.0:3 b}@1020.0:2 c}@1030.0:1");
	begin(&s);
	s.calls.inherited_depth = 3;
	run(&s, "b}.0:3 b{.0:3", "b}@1000.0:3 b{@1010.0:3");
	begin(&s);
	s.calls.inherited_depth = 2;
	run(&s, "a{.0:3", "a{@1000.0:2");
	begin(&s);
	s.calls.inherited_depth = 9;
	run(&s, "a{.1:4", "a{@1000.1:3");
	begin(&s);
	s.calls.inherited_depth = 9;
	run(&s, "a{.4:4", "a{@1000.4:0");
	begin(&s);
	s.calls.inherited_depth = 9;
	run(&s, "a{.4:3", "a{@1000.4:0");
	begin(&s);
	s.calls.inherited_depth = 5;
	s.config.depth = 2;
	run(&s, "a{.0:5", "a{@1000.0:2");
	/* The open calls around the first call are not shown, so they are not levels. */
	begin(&s);
	s.calls.inherited_depth = 3;
	s.stage.starts_at_margin = true;
	run(&s, "a{.0:3 a}.0:3", "a{@1000.0 a}@1010.0");
	begin(&s);
	s.calls.inherited_depth = 3;
	s.stage.starts_at_margin = true;
	run(&s, "a}.0:3 b{.0:2", "a}@1000.0 b{@1010.0");
}

TEST(the_filter_says_how_many_of_the_calls_around_are_shown)
{
	uint16_t levels[] = { 0, 1, 1, 2 };
	struct scene s;

	for (unsigned unseen = 0; unseen < 6; unseen++) {
		struct event events[2];

		for (unsigned type = EVENT_ENTRY; type <= EVENT_EXIT; type++) {
			unsigned expected = unseen < 4 ? levels[unseen] : unseen;

			begin(&s);
			s.calls.inherited_depth = 7;
			s.filter.levels = levels;
			s.filter.nr_levels = 4;
			s.stage.starts_at_margin = unseen < 4;
			events_parse(type == EVENT_ENTRY ? "a{ *" : "a} *", events, 2);
			events[0].depth = 0;
			events[0].indent = unseen;
			assert_int_equal(stg_indent(&s.stage, events, 2), 2);
			assert_int_equal(events[0].indent, expected);
			assert_int_equal(events[1].indent, expected + (type == EVENT_ENTRY));
		}
	}
}

/* Events of the scheduler and calls of the kernel do not tell at which depth the task begins. */
TEST(only_calls_of_the_program_say_where_it_begins)
{
	struct scene s;

	begin(&s);
	s.calls.inherited_depth = 3;
	run(&s, "~.0:5 'a{.0:7 'a}.0:7 *.0:4", "~@1000.0 'a{@1010.0 'a}@1020.0 *@1030.0");
	assert_false(s.stage.has_first);
	run(&s, "a{.0:3 a}.0:3", "a{@1000.0:3 a}@1010.0:3");
	assert_true(s.stage.has_first);
	/* The depth is found only once. */
	run(&s, "a{.0:1", "a{@1000.0:3");
}

TEST(behind_a_loss_the_record_says_how_deep_it_is)
{
	struct scene s;

	begin(&s);
	run(&s, "a{ b{ ! c{.7:7 c}.7:7 d}.6:6",
	    "a{@1000.0 b{@1010.1 !@1020.2 c{@1030.7 c}@1040.7 d}@1050.6");
	assert_false(s.stage.wants_depth);
	run(&s, "! 'a{.2 * c}.4:4", "!@1000.0:6 'a{@1010.2:6 *@1020.1:7 c}@1030.4");
	run(&s, "!U c{.1:1", "!@1000.0:4U c{@1010.1:4");
	s.config.depth = 3;
	run(&s, "! c{.9:9", "!@1000.0:5 c{@1010.9:3");
}

TEST(events_at_the_margin_may_be_left_out)
{
	struct scene s;

	begin(&s);
	run(&s, "* ~ a{ * a} * !",
	    "*@1000.0 ~@1010.0 a{@1020.0 *@1030.1 a}@1040.0 *@1050.0 !@1060.0");
	begin(&s);
	s.stage.drops_margin = true;
	run(&s, "* ~ a{ * a} * ! ?", "a{@1020.0 *@1030.1 a}@1040.0 !@1060.0");
}

/* Events that are switched off count as levels, and are not shown. */
TEST(what_is_switched_off_counts_and_is_not_there)
{
	struct scene s;

	begin(&s);
	s.stage.drops_off = true;
	run(&s, "a{X b{ *X.2 b} c{X c}X a}X d{", "b{@1010.1 *@1020.2X b}@1030.1 d{@1070.0");
	begin(&s);
	run(&s, "a{X b{ b} a}X", "a{@1000.0X b{@1010.1 b}@1020.1 a}@1030.0X");
}

TEST(another_program_begins_at_the_margin)
{
	struct session_ref refs[] = { { 0, NULL }, { 2000, NULL }, { 3000, NULL } };
	struct scene s;

	begin(&s);
	s.task.refs = refs;
	s.task.nr_refs = 3;
	stg_indent_init(&s.stage, &s.calls, &s.filter);
	assert_int_equal(s.stage.exec_ns, 2000);
	run(&s, "a{@1000 b{@1999 c{@2000 d{@2999 a{@3000 b{@3001",
	    "a{@1000.0 b{@1999.1 c{@2000.2:0 d{@2999.3:1 a{@3000.4:0 b{@3001.5:1");
	assert_int_equal(s.stage.exec_ns, UINT64_MAX);
	/* The recording has grown, and has got another session. */
	stg_indent_more(&s.stage, 1500);
	assert_int_equal(s.stage.exec_ns, 2000);
	stg_indent_more(&s.stage, 2500);
	assert_int_equal(s.stage.exec_ns, 3000);
}

/* The depth is larger than an event can state. */
TEST(very_deep_calls_have_all_the_same_depth)
{
	struct event events[4];
	struct scene s;

	begin(&s);
	s.stage.has_first = true;
	s.stage.depth = UINT16_MAX - 1;
	events_parse("a{ b{ c{ c}", events, 4);
	assert_int_equal(stg_indent(&s.stage, events, 4), 4);
	assert_int_equal(events[0].indent, UINT16_MAX - 1);
	assert_int_equal(events[1].indent, UINT16_MAX);
	assert_int_equal(events[2].indent, UINT16_MAX);
	assert_int_equal(events[3].indent, UINT16_MAX);
	assert_int_equal(s.stage.depth, UINT16_MAX + 1U);
}

/* In a batch without missing calls, stg_calls() has already counted the open calls. */
TEST(a_plain_batch_need_not_be_counted_again)
{
	struct scene s;

	begin(&s);
	s.calls.is_plain = true;
	s.calls.nr = 5;
	s.calls.last_ns = 100;
	s.stage.has_first = true;
	s.stage.depth = 3;
	assert_true(stg_indent_follow(&s.stage, 3));
	assert_int_equal(s.stage.depth, 5);
	assert_false(stg_indent_follow(&s.stage, 3));
	assert_false(stg_indent_follow(&s.stage, 6));
	assert_true(stg_indent_follow(&s.stage, 5));
	s.stage.exec_ns = 100;
	assert_false(stg_indent_follow(&s.stage, 5));
	s.stage.exec_ns = 101;
	assert_true(stg_indent_follow(&s.stage, 5));
	s.stage.wants_depth = true;
	assert_false(stg_indent_follow(&s.stage, 5));
	s.stage.wants_depth = false;
	s.stage.has_first = false;
	assert_false(stg_indent_follow(&s.stage, 5));
	s.stage.has_first = true;
	s.calls.is_plain = false;
	assert_false(stg_indent_follow(&s.stage, 5));
	s.calls.is_plain = true;
	s.stage.depth = UINT16_MAX - EVENT_BATCH;
	s.calls.nr = UINT16_MAX - EVENT_BATCH + 1;
	assert_true(stg_indent_follow(&s.stage, UINT16_MAX - EVENT_BATCH));
	assert_false(stg_indent_follow(&s.stage, UINT16_MAX - EVENT_BATCH + 1));
}
