/* Filters and triggers: the events that pass, and the thresholds of their calls. */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/events.h"
#include "tests/unit/lib/read/recording.h"
#include "utils/pipeline/stages/stg_filter.h"

struct scene {
	struct recording rec;
	struct trace_data data;
	struct filters filters;
	struct call_filter filter;
	struct stg_filter stage;
};

/* @specs: those of -F, -T, -C and -H; NULL: none */
static void begin_with(struct scene *s, const char *const specs[4])
{
	*s = (struct scene){ 0 };
	recording_init(&s->rec);
	recording_add_task(&s->rec, 100, "a{}", 1000);
	recording_finish(&s->rec);
	assert_int_equal(data_open(&s->data, s->rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	for (int i = 0; i < 4; i++) {
		if (specs[i])
			assert_int_equal(filters_add(&s->filters, SPEC_FILTER + i, MATCH_GLOB,
						     specs[i], NULL),
					 0);
	}
	assert_int_equal(filters_prepare(&s->filters, NULL), 0);
	assert_int_equal(func_rules_init(&s->filter.rules, &s->data, &s->filters, UINT32_MAX, NULL),
			 0);
	s->filter.uses = s->filter.rules.uses;
	s->filter.data = &s->data;
	s->filter.base.depth = UINT32_MAX;
	stg_filter_init(&s->stage, &s->filter, 0);
}

static void begin(struct scene *s, const char *filter, const char *trigger)
{
	begin_with(s, (const char *[]){ filter, trigger, NULL, NULL });
}

/* Begin the task once more, after a change of the filter. */
static void again(struct scene *s)
{
	stg_filter_deinit(&s->stage);
	stg_filter_init(&s->stage, &s->filter, 0);
}

static void end(struct scene *s)
{
	stg_filter_deinit(&s->stage);
	call_filter_deinit(&s->filter);
	assert_null(s->filter.rules.filters);
	filters_deinit(&s->filters);
	data_close(&s->data);
	recording_deinit(&s->rec);
}

static void run_stage(struct stg_filter *stage, const char *in, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct event events[100];
	size_t nr = events_parse(in, events, ARRAY_SIZE(events));
	ssize_t kept = stg_filter(stage, events, nr);

	assert_true(kept >= 0);
	events_put(events, kept, &text);
	assert_string_equal(strbuf_str(&text), expected);
}

static void run(struct scene *s, const char *in, const char *expected)
{
	run_stage(&s->stage, in, expected);
}

TEST(a_filter_shows_its_calls_and_what_is_in_them)
{
	struct scene s;

	begin(&s, "b", NULL);
	run(&s, "a{ * b{ * c{ c} b} ! ~ c{ c} a} *",
	    "b{@1020.1 *@1030.2 c{@1040.2 c}@1050.2 b}@1060.1 !@1070.1");
	assert_int_equal(s.stage.nr, 0);
	assert_int_equal(s.stage.now.in, 0);
	/* b within itself, and c after b. */
	run(&s, "b{ b{ b} c{ c} b} c{ c}",
	    "b{@1000.0 b{@1010.1 b}@1020.1 c{@1030.1 c}@1040.1 b}@1050.0");
	end(&s);
}

TEST(a_filter_that_opts_out_hides_its_calls_and_what_is_in_them)
{
	struct scene s;

	begin(&s, "!b", NULL);
	run(&s, "a{ * b{ * c{ c} ~ ! b} c{ c} a} *",
	    "a{@1000.0 *@1010.1 !@1070.2 c{@1090.1 c}@1100.1 a}@1110.0 *@1120.0");
	assert_int_equal(s.stage.now.out, 0);
	end(&s);
	/* No filter opts in again within b. */
	begin(&s, "!b;c", NULL);
	run(&s, "a{ c{ b{ c{ d{ d} c} b} d{ d} c} a}", "c{@1010.1 d{@1080.2 d}@1090.2 c}@1100.1");
	end(&s);
}

TEST(depth_counts_what_is_shown)
{
	struct scene s;

	begin(&s, "b", NULL);
	s.filter.base.depth = 2;
	again(&s);
	run(&s, "a{ b{ c{ * d{ * d} c} * b} a}",
	    "b{@1010.1 c{@1020.2 c}@1070.2 *@1080.2 b}@1090.1");
	/* Each function that opts in gets all levels again. */
	run(&s, "b{ c{ b{ c{ d{ d} c} b} d{ d} c} b}",
	    "b{@1000.0 c{@1010.1 b{@1020.2 c{@1030.3 c}@1060.3 b}@1070.2 c}@1100.1 b}@1110.0");
	end(&s);
	begin(&s, NULL, "b@depth=1");
	run(&s, "a{ b{ c{ c} * b} c{ d{ d} c} a}",
	    "a{@1000.0 b{@1010.1 b}@1050.1 c{@1060.1 d{@1070.2 d}@1080.2 c}@1090.1 a}@1100.0");
	s.filter.base.depth = 1;
	again(&s);
	run(&s, "a{ b{ c{ c} b} a}", "a{@1000.0 b{@1010.1 b}@1040.1 a}@1050.0");
	end(&s);
}

TEST(thresholds)
{
	struct scene s;

	begin(&s, NULL, "b@time=50ns");
	s.filter.base.threshold_ns = 20;
	again(&s);
	run(&s, "a{ b{ c{ ~ c} b} c{ c} ~ a}",
	    "a{@1000.0=20/0 b{@1010.1=50/0 c{@1020.2=50/0 ~@1030.3=50/0 c}@1040.2 b}@1050.1 "
	    "c{@1060.1=20/0 c}@1070.1 ~@1080.1=20/0 a}@1090.0");
	end(&s);
	/* With @trace a call is shown, however short it is. */
	begin(&s, NULL, "c@trace;b@time=50ns");
	run(&s, "a{ b{ c{ d{ d} c} b} a}",
	    "a{@1000.0 b{@1010.1=50/0 c{@1020.2 d{@1030.3=50/0 d}@1040.3 c}@1050.2 b}@1060.1 "
	    "a}@1070.0");
	end(&s);
}

TEST(small_functions_are_no_levels)
{
	struct scene s;

	begin(&s, NULL, "b@size=17");
	run(&s, "a{ A{ A} b{ A{ c{ c} A} b} A{ A} a}",
	    "a{@1000.0 A{@1010.1 A}@1020.1 b{@1030.1 c{@1050.3 c}@1060.3 b}@1080.1 A{@1090.1 "
	    "A}@1100.1 a}@1110.0");
	s.filter.base.size = 65;
	again(&s);
	run(&s, "a{ b{ c{ c} A{ A} b} a}", "b{@1010.1 c{@1020.2 c}@1030.2 b}@1060.1");
	s.filter.base.size = 64;
	s.filter.base.depth = 2;
	again(&s);
	run(&s, "a{ A{ c{ d{ d} c} A} a}", "a{@1000.0 c{@1020.2 c}@1050.2 a}@1070.0");
	end(&s);
}

TEST(hidden_calls_are_as_if_they_were_not_there)
{
	struct scene s;

	begin_with(&s, (const char *[]){ NULL, NULL, NULL, "b" });
	s.filter.base.depth = 2;
	again(&s);
	run(&s, "a{ b{ c{ d{ d} c} * b} a}", "a{@1000.0 c{@1020.2 c}@1050.2 *@1060.2 a}@1080.0");
	end(&s);
}

/* Callers are shown if one of their calls is. */
TEST(callers)
{
	struct scene s;

	begin_with(&s, (const char *[]){ NULL, NULL, "c", NULL });
	run(&s, "a{ b{ c{ d{ d} c} b} a}",
	    "a{@1000.0=-1/0 b{@1010.1=-1/0 c{@1020.2 d{@1030.3=-1/0 d}@1040.3 c}@1050.2 b}@1060.1 "
	    "a}@1070.0");
	/*
	 * The chosen call is beyond the depth limit: it counts as a level that is not shown. Its
	 * callers within the limit are shown.
	 */
	s.filter.base.depth = 1;
	again(&s);
	run(&s, "a{ b{ c{ d{ d} c} b} a}", "a{@1000.0=-1/0 c{@1020.2X c}@1050.2X a}@1070.0");
	end(&s);
}

TEST(events_are_shown_where_calls_would_be)
{
	struct scene s;

	begin(&s, "b;!c", NULL);
	s.filter.base.depth = 1;
	s.filter.base.threshold_ns = 7;
	again(&s);
	run(&s, "* ~ ! a{ * ! b{ * ~ ! c{ * ! c} d{ * ! d} ^ b} a}",
	    "!@1020.0 !@1050.1 b{@1060.1=7/0 !@1090.2 !@1120.3 !@1160.3 b}@1190.1");
	end(&s);
}

/* --- switching on and off --- */

TEST(switches_count_for_all_tasks)
{
	struct scene s;

	begin(&s, NULL, "b@trace_off;c@trace_on");
	s.filter.collects = true;
	run(&s, "a{ c{@1030 c} b{@1050 d{ d} b} c{@1090 c} a}",
	    "a{@1000.0 c{@1030.1 c}@1040.1 b{@1050.1 d{@1060.2 d}@1070.2 b}@1080.1 c{@1090.1 "
	    "c}@1100.1 a}@1110.0");
	assert_int_equal(s.filter.nr_switches, 3);
	/* Another task has an earlier switch. */
	run(&s, "b{@1010 b}", "b{@1010.0 b}@1020.0");
	call_filter_sort_switches(&s.filter);
	assert_false(s.filter.collects);
	assert_int_equal(s.filter.nr_switches, 4);
	assert_int_equal(s.filter.switches[0].time_ns, 1010);
	assert_false(s.filter.switches[0].is_on);
	assert_int_equal(s.filter.switches[1].time_ns, 1030);
	assert_true(s.filter.switches[1].is_on);
	again(&s);
	s.stage.task = 2;
	run(&s, "a{@1000 d{@1009 d}@1009 e{@1010 * e} f{@1030 f} a}@1049",
	    "a{@1000.0 d{@1009.1 d}@1009.1 e}@1030.1 f{@1030.1 f}@1040.1 a}@1049.0");
	run(&s, "a{@1050 * b{ b} a}@1089 *@1090 ~", "*@1090.0 ~@1100.0");
	/* Calls that begin while tracing is off count for the depth of later calls. */
	s.filter.counts_off = true;
	again(&s);
	s.stage.task = 2;
	run(&s, "a{@1000 e{@1010 * ! e} f{@1030 f} a}@1060",
	    "a{@1000.0 e{@1010.1X !@1030.2 e}@1040.1 f{@1030.1 f}@1040.1 a}@1060.0X");
	end(&s);
}

/*
 * A counter may advance in steps longer than a call. The order of two events of one task is known
 * even if their times are equal.
 */
TEST(switches_at_one_moment)
{
	struct scene s;

	begin(&s, NULL, "b@trace_off;c@trace_on");
	s.filter.collects = true;
	run(&s, "a{@1010 b{@1010 c{@1010 b{@1010 b} c} b} a}",
	    "a{@1010.0 b{@1010.1 c{@1010.2 b{@1010.3 b}@1020.3 c}@1030.2 b}@1040.1 a}@1050.0");
	call_filter_sort_switches(&s.filter);
	assert_int_equal(s.filter.nr_switches, 3);
	again(&s);
	run(&s, "a{@1010 b{@1010 d{@1010 c{@1010 d{@1010 d}@1010 b{@1010 e{@1010 e} b} c} d} b} a}",
	    "a{@1010.0 c{@1010.3 d{@1010.4 d}@1010.4");
	/* For a later task, all these switches are in the past. */
	again(&s);
	s.stage.task = 2;
	run(&s, "a{@1009 a}@1009 d{@1010 d}", "a{@1009.0 a}@1009.0");
	/*
	 * A switch that is not reached as expected (because of a range, or another filter) takes
	 * effect a moment later.
	 */
	again(&s);
	run(&s, "d{@1010 d}@1010 d{@1011 d}", "d{@1010.0 d}@1010.0");
	end(&s);
}

/*
 * Events of several tasks with the same time come in the order of the tasks. So do their switches.
 */
TEST(switches_of_several_tasks_at_one_moment)
{
	struct scene s;
	static const char in[] = "a{@1000 a}@1005 d{@1010 d}@1011";
	static const char *const expected[] = {
		"a{@1000.0 a}@1005.0 d{@1010.0 d}@1011.0",
		"a{@1000.0 a}@1005.0 d}@1011.0",
		"a{@1000.0 a}@1005.0 d{@1010.0 d}@1011.0",
	};

	begin(&s, NULL, "b@trace_off;c@trace_on");
	s.filter.collects = true;
	s.stage.task = 3;
	run(&s, "c{@1010 c}", "c{@1010.0 c}@1020.0");
	s.stage.task = 1;
	run(&s, "b{@1010 b}", "b{@1010.0 b}@1020.0");
	call_filter_sort_switches(&s.filter);
	assert_false(s.filter.switches[0].is_on);
	assert_true(s.filter.switches[1].is_on);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		again(&s);
		s.stage.task = 2 * i;
		run(&s, in, expected[i]);
	}
	end(&s);
}

TEST(a_view_may_begin_switched_off)
{
	struct scene s;

	begin(&s, NULL, "b@trace_on");
	s.filter.starts_off = true;
	again(&s);
	assert_false(s.stage.is_on);
	run(&s, "a{ * ~ ! a}", "");
	s.filter.starts_off = false;
	again(&s);
	assert_true(s.stage.is_on);
	end(&s);
	/* Without switches there is nothing to sort. */
	begin(&s, "b", NULL);
	call_filter_sort_switches(&s.filter);
	end(&s);
}

/*
 * trace_on and trace_off also take effect at a call that is opted out itself, but not at calls
 * within it.
 */
TEST(who_may_switch)
{
	struct scene s;

	begin(&s, "!b;!d", "c@trace_off;d@trace_off");
	s.filter.collects = true;
	run(&s, "b{ c{ c} d{ d} b} d{@1100 d} c{@1200 c}", "c{@1200.0 c}@1210.0");
	assert_int_equal(s.filter.nr_switches, 2);
	assert_int_equal(s.filter.switches[0].time_ns, 1100);
	assert_int_equal(s.filter.switches[1].time_ns, 1200);
	s.filter.collects = false;
	s.filter.nr_switches = 0;
	run(&s, "c{@1300 c}", "c{@1300.0 c}@1310.0");
	assert_int_equal(s.filter.nr_switches, 0);
	end(&s);
}

/* --- conditions --- */

TEST(a_condition_on_what_was_not_recorded_does_not_hold)
{
	struct scene s;

	begin(&s, "b@if:arg1==1", NULL);
	run(&s, "a{ b{ c{ c} b} a}", "");
	end(&s);
	begin(&s, "!b@if:arg1==1", NULL);
	run(&s, "a{ b{ c{ c} b} a}", "a{@1000.0 b{@1010.1 c{@1020.2 c}@1030.2 b}@1040.1 a}@1050.0");
	end(&s);
}

/* The return value of each call is known from a first reading. */
TEST(conditions_on_return_values_are_asked_call_by_call)
{
	struct cond_outcomes outcomes[2] = { 0 };
	struct scene s;

	begin(&s, "b@if:retval==1", NULL);
	s.filter.outcomes = outcomes;
	s.stage.task = 1;
	s.filter.collects = true;
	run(&s, "b{ b{ b} b} a{ b{ b} a}", "");
	assert_int_equal(outcomes[0].nr, 0);
	assert_int_equal(outcomes[1].nr, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(outcomes[1].holds[i], 0);
		outcomes[1].holds[i] = i > 0;
	}
	call_filter_sort_switches(&s.filter);
	again(&s);
	s.stage.task = 1;
	run(&s, "b{ b{ c{ c} b} b} a{ b{ b} a} b{ b}",
	    "b{@1010.1 c{@1020.2 c}@1030.2 b}@1040.1 b{@1070.1 b}@1080.1");
	assert_int_equal(s.stage.nr_asked, 4);
	assert_int_equal(outcomes[1].nr, 3);
	free(outcomes[1].holds);
	s.filter.outcomes = NULL;
	end(&s);
}

/* --- views that add up times --- */

TEST(too_short_calls_are_dropped_at_their_end)
{
	struct scene s;

	begin(&s, NULL, "b@time=50ns");
	s.filter.ends_only = true;
	s.filter.base.threshold_ns = 20;
	again(&s);
	run(&s, "a{ c{ c}=19/19 a}=100/81", "a{@1000.0=20/0 c{@1010.1=20/0 a}@1030.0=100/100");
	run(&s, "a{ c{ c}=20/20 a}=100/80",
	    "a{@1000.0=20/0 c{@1010.1=20/0 c}@1020.1=20/20 a}@1030.0=100/80");
	run(&s, "a{ c{ c}=-20/20 d{ d}=-19/19 a}=100/80",
	    "a{@1000.0=20/0 c{@1010.1=20/0 c}@1020.1=-20/20 d{@1030.1=20/0 a}@1050.0=100/99");
	run(&s, "a{ b{ c{ c}=49/49 b}=49/0 a}=100/50",
	    "a{@1000.0=20/0 b{@1010.1=50/0 c{@1020.2=50/0 a}@1050.0=100/99");
	/* A call that has not ended is shown, however short it is. */
	run(&s, "a{ c{ c}=1/1F a}=2/1F",
	    "a{@1000.0=20/0 c{@1010.1=20/0 c}@1020.1=1/1F a}@1030.0=2/1F");
	/* The callers of a shown call are shown, too, however short they are. */
	run(&s, "a{ b{ c{ c}=50/50 b}=2/0 a}=3/1",
	    "a{@1000.0=20/0 b{@1010.1=50/0 c{@1020.2=50/0 c}@1030.2=50/50 b}@1040.1=2/0 "
	    "a}@1050.0=3/1");
	end(&s);
}

TEST(only_callers_of_what_is_shown)
{
	struct scene s;

	begin_with(&s, (const char *[]){ NULL, NULL, "c", NULL });
	s.filter.ends_only = true;
	run(&s, "a{ b{ b}=10/10 d{ c{ c}=1/1 d}=5/4 e{ e}=5/5F a}=100/85",
	    "a{@1000.0=-1/0 b{@1010.1=-1/0 d{@1030.1=-1/0 c{@1040.2 c}@1050.2=1/1 d}@1060.1=5/4 "
	    "e{@1070.1=-1/0 a}@1090.0=100/100");
	s.filter.base.depth = 1;
	again(&s);
	run(&s, "a{ b{ c{ c}=1/1 b}=5/4 d{ d}=1/1 a}=100/94",
	    "a{@1000.0=-1/0 c{@1020.2X a}@1070.0=100/95");
	end(&s);
}

/* The self time of a small function is added to its caller. */
TEST(times_of_small_calls)
{
	struct scene s;

	begin(&s, NULL, "x@trace");
	s.filter.ends_only = true;
	s.filter.base.size = 17;
	again(&s);
	run(&s, "a{ A{ c{ c}=20/20 A}=50/30 a}=100/50",
	    "a{@1000.0 c{@1020.2 c}@1030.2=20/20 a}@1050.0=100/80");
	end(&s);
}

/* --- depths and stacks --- */

/* After LOST some calls have ended, or others are open that were entered unseen. */
TEST(the_stack_follows_the_depth_of_events)
{
	struct scene s;

	begin(&s, "b", NULL);
	run(&s, "a{.0 b{.1 c{.2 ! d{.1 d}.1 b{.1", "b{@1010.1 c{@1020.2 !@1030.3 b{@1060.1");
	assert_int_equal(s.stage.nr, 2);
	run(&s, "! e{.4 e}.4 f}.3 c}.2", "!@1000.0 e{@1010.4 e}@1020.4 f}@1030.3 c}@1040.2");
	run(&s, "b}.1 a}.0", "b}@1000.1");
	assert_int_equal(s.stage.now.in, 0);
	/* The EXIT of an outer call also ends all calls within that call. */
	run(&s, "a{ b{ c{ a}.0 d{.0 d}.0", "b{@1010.1 c{@1020.2");
	end(&s);
}

TEST(many_calls)
{
	struct scene s;

	begin(&s, "b", NULL);
	run(&s,
	    "b{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ a{ "
	    "a{ a{ a{ "
	    "a{ a{ a{ a{@9",
	    "b{@1000.0 a{@1010.1 a{@1020.2 a{@1030.3 a{@1040.4 a{@1050.5 a{@1060.6 a{@1070.7 "
	    "a{@1080.8 a{@1090.9 a{@1100.10 a{@1110.11 a{@1120.12 a{@1130.13 a{@1140.14 a{@1150.15 "
	    "a{@1160.16 a{@1170.17 a{@1180.18 a{@1190.19 a{@1200.20 a{@1210.21 a{@1220.22 "
	    "a{@1230.23 a{@1240.24 a{@1250.25 a{@1260.26 a{@1270.27 a{@1280.28 a{@1290.29 "
	    "a{@1300.30 a{@1310.31 a{@1320.32 a{@1330.33 a{@9.34");
	assert_int_equal(s.stage.nr, 35);
	run(&s, "b}.0 b{.0 b}.0", "b}@1000.0 b{@1010.0 b}@1020.0");
	end(&s);
}

/* If the entry of a call was not seen, the filter of its function decides at its end. */
TEST(ends_of_calls_that_were_not_seen)
{
	struct scene s;

	begin(&s, "b", NULL);
	run(&s, "a}U b}U", "b}@1010.0U");
	end(&s);
	begin(&s, "!b", NULL);
	run(&s, "a}U b}U", "a}@1000.0U");
	s.filter.base.depth = 3;
	run(&s, "a}.0:2U a}.0:3U", "a}@1000.0:2U");
	s.filter.base.size = 64;
	run(&s, "a}U A}U", "a}@1000.0U");
	s.filter.base.size = 65;
	run(&s, "a}U", "");
	end(&s);
	begin(&s, "b", NULL);
	s.filter.base.depth = 1;
	run(&s, "b}.0:5U", "b}@1000.0:5U");
	end(&s);
	begin_with(&s, (const char *[]){ NULL, NULL, "b", "c" });
	run(&s, "a}U b}U c}U", "b}@1010.0U");
	end(&s);
}

/* --- forked children --- */

static void begin_child(struct scene *s, struct stg_filter *child, const struct task *task)
{
	stg_filter_init(child, &s->filter, 0);
	assert_int_equal(stg_filter_inherit(child, &s->stage, task), 0);
}

TEST(a_child_is_within_what_its_parent_was_in)
{
	struct task task = { 0 };
	struct stg_filter child;
	struct scene s;

	begin(&s, "b", NULL);
	/* If the parent has no open calls, the child has nothing to wait for. */
	begin_child(&s, &child, &task);
	assert_false(child.is_waiting);
	stg_filter_deinit(&child);
	run(&s, "a{ b{ A{", "b{@1010.1 A{@1020.2");
	begin_child(&s, &child, &task);
	assert_true(child.is_waiting);
	assert_int_equal(child.exec_ns, UINT64_MAX);
	assert_ptr_not_equal(child.frames, s.stage.frames);
	run_stage(&child, "* A}.0:2UI", "*@1000.0 A}@1010.0:2UI");
	assert_false(child.is_waiting);
	assert_int_equal(child.nr_levels, 4);
	assert_int_equal(child.levels[0], 0);
	assert_int_equal(child.levels[1], 0);
	assert_int_equal(child.levels[2], 1);
	assert_int_equal(child.levels[3], 2);
	assert_int_equal(child.nr_inherited, 2);
	run_stage(&child, "c{.0:2 c}.0:2 b}.0:1U d{.0:1 d}.0:1 a}.0:0U b{.0 b}.0",
		  "c{@1000.0:2 c}@1010.0:2 b}@1020.0:1U b{@1060.0 b}@1070.0");
	assert_int_equal(child.nr_inherited, 0);
	stg_filter_deinit(&child);
	/* The calls of the parent go on. */
	run(&s, "A}.2 b}.1 a}.0", "A}@1000.2 b}@1010.1");
	end(&s);
}

TEST(a_child_begins_with_a_call)
{
	struct task task = { 0 };
	struct stg_filter child;
	struct scene s;

	begin(&s, "b", NULL);
	s.filter.hides_libcalls = true;
	run(&s, "b{ A{", "b{@1000.0 A{@1010.1");
	begin_child(&s, &child, &task);
	run_stage(&child, "c{.0:2 c}.0:2 B}.0:1U b}.0:0U c{.0:0",
		  "c{@1000.0:2 c}@1010.0:2 b}@1030.0U");
	assert_int_equal(child.levels[1], 1);
	assert_int_equal(child.levels[2], 1);
	stg_filter_deinit(&child);
	/* The child is at another depth than its parent, so the calls around it are not known. */
	begin_child(&s, &child, &task);
	run_stage(&child, "c{.0:1 c}.0:1 b{.0:1 b}.0:1", "b{@1020.0:1 b}@1030.0:1");
	assert_int_equal(child.nr_levels, 0);
	assert_int_equal(child.nr_inherited, 0);
	stg_filter_deinit(&child);
	end(&s);
}

/*
 * A child begins within calls that its parent has open. They do not count for the limit of the
 * child's own calls. Among the open calls, the limit is the same.
 */
TEST(levels_count_from_the_first_own_call)
{
	struct scene s;

	begin(&s, NULL, NULL);
	s.filter.base.depth = 2;
	again(&s);
	stg_filter_begin_within(&s.stage, 3);
	run(&s, "a{ b{ c{ d{ a{ b{ b} a} d} c} a{ b{ c{ c} b} a} b} a}",
	    "a{@1000.0 b{@1010.1 d{@1030.3 a{@1040.4 a}@1070.4 d}@1080.3 a{@1100.2 b{@1110.3 "
	    "b}@1140.3 a}@1150.2 b}@1160.1 a}@1170.0");
	run(&s, "a{ b{ c{ c} b} a}", "a{@1000.0 b{@1010.1 b}@1040.1 a}@1050.0");
	/*
	 * The child begins within three calls, and only the third, c, is known. The two others
	 * count as levels around c, so c is not shown.
	 */
	again(&s);
	stg_filter_begin_within(&s.stage, 1);
	run(&s, "c{.0:2 c}.0:2 a{.0:2 b{.1:3 c{.2:4 c}.2:4 b}.1:3 a}.0:2",
	    "a{@1020.0:2 b{@1030.1:3 b}@1060.1:3 a}@1070.0:2");
	end(&s);
	/* A limit that a rule sets in an inherited call counts for the child's own calls, too. */
	begin(&s, NULL, "a@depth=2");
	stg_filter_begin_within(&s.stage, 2);
	run(&s, "a{ b{ c{ c} b} a}", "a{@1000.0 b{@1010.1 b}@1040.1 a}@1050.0");
	end(&s);
}

/* The EXIT of an outer call also ends all calls within that call. */
TEST(a_child_that_lost_records)
{
	struct task task = { 0 };
	struct stg_filter child;
	struct scene s;

	begin(&s, "!b", NULL);
	run(&s, "a{ b{ c{", "a{@1000.0");
	begin_child(&s, &child, &task);
	run_stage(&child, "d{.0:3 d}.0:3 a}.0:0U d{.0:0", "a}@1020.0U d{@1030.0");
	stg_filter_deinit(&child);
	end(&s);
}

TEST(with_exec_nothing_is_inherited_any_more)
{
	struct session_ref refs[] = { { 0, NULL }, { 2000, NULL } };
	struct task task = { .refs = refs, .nr_refs = 2 };
	struct stg_filter child;
	struct scene s;

	begin(&s, "b", NULL);
	run(&s, "b{", "b{@1000.0");
	begin_child(&s, &child, &task);
	assert_int_equal(child.exec_ns, 2000);
	run_stage(&child, "c{.0:1@1100 c}.0:1@1999 c{.0:0@2000 c}.0:0", "c{@1100.0:1 c}@1999.0:1");
	assert_int_equal(child.nr_inherited, 0);
	assert_int_equal(child.now.in, 0);
	stg_filter_deinit(&child);
	end(&s);
}

TEST(a_copy_asks_for_no_return_values)
{
	struct cond_outcomes outcome = { 0 };
	struct stg_filter copy;
	struct scene s;

	begin(&s, "b@if:retval==1", NULL);
	s.filter.outcomes = &outcome;
	s.filter.collects = true;
	run(&s, "a{ b{", "");
	stg_filter_init(&copy, &s.filter, 0);
	assert_int_equal(stg_filter_copy(&copy, &s.stage), 0);
	assert_int_equal(copy.nr, 2);
	outcome.holds[0] = 77;
	run_stage(&copy, "b}.1 a}.0", "");
	assert_int_equal(outcome.holds[0], 77);
	run(&s, "b}.1 a}.0", "");
	assert_int_equal(outcome.holds[0], 0);
	stg_filter_deinit(&copy);
	free(outcome.holds);
	s.filter.outcomes = NULL;
	end(&s);
}

/* --- backtrace --- */

TEST(a_path_leads_to_calls_that_ask_for_it)
{
	const struct call_path *path;
	struct event events[8];
	struct scene s;

	begin(&s, NULL, "c@backtrace");
	s.filter.wants_paths = true;
	events_parse("a{ b{ c{ c} d{ c{", events, 8);
	assert_int_equal(stg_filter(&s.stage, events, 6), 6);
	assert_int_equal(events[0].self_ns, 0);
	assert_int_equal(events[4].self_ns, 0);
	path = (const struct call_path *)(uintptr_t)events[2].self_ns;
	assert_non_null(path);
	assert_string_equal(path->func->name, "b");
	assert_int_equal(path->addr, recording_addr("b"));
	assert_int_equal(path->depth, 1);
	assert_string_equal(path->parent->func->name, "a");
	assert_null(path->parent->parent);
	/* Calls of the same caller have the same path. */
	assert_string_equal(((const struct call_path *)(uintptr_t)events[5].self_ns)->func->name,
			    "d");
	assert_ptr_equal(((const struct call_path *)(uintptr_t)events[5].self_ns)->parent, path);
	/* The outermost call has no path. */
	events_parse("c{.0", events, 8);
	assert_int_equal(stg_filter(&s.stage, events, 1), 1);
	assert_int_equal(events[0].self_ns, 0);
	/* A caller whose entry was not recorded is not in the path. */
	events_parse("d{.1 b{.3 c{.4", events, 8);
	assert_int_equal(stg_filter(&s.stage, events, 3), 3);
	path = (const struct call_path *)(uintptr_t)events[2].self_ns;
	assert_string_equal(path->func->name, "b");
	assert_string_equal(path->parent->func->name, "d");
	s.filter.wants_paths = false;
	events_parse("a{.0 c{.1", events, 8);
	assert_int_equal(stg_filter(&s.stage, events, 2), 2);
	assert_int_equal(events[1].self_ns, 0);
	end(&s);
}
