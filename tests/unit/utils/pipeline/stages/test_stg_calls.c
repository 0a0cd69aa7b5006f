/* Pairs of entries and exits: times, depths, and EXITs of calls that were entered unseen. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "tests/unit/lib/read/events.h"
#include "tests/unit/lib/read/recording.h"
#include "utils/pipeline/stages/stage.h"

static const struct func sched = { .name = "sched" };
static const struct func preempt = { .name = "preempt" };
static const struct pseudo_funcs pseudo = { &sched, &preempt };

struct scene {
	struct recording rec;
	struct trace_data data;
	struct stage_config config;
	struct stg_calls calls;
};

/* Begin with a task without open calls. @more: further lines of task.txt */
static void begin_with(struct scene *s, const char *more)
{
	recording_init(&s->rec);
	strbuf_addstr(&s->rec.task_txt, more);
	recording_add_task(&s->rec, 100, "a{}", 1000);
	recording_finish(&s->rec);
	recording_add_file(&s->rec, "sid-00000000000000ff.map", "", 0);
	assert_int_equal(data_open(&s->data, s->rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	stage_config_init(&s->config);
	s->calls = (struct stg_calls){
		.config = &s->config,
		.task = &s->data.tasks[0],
		.pseudo = &pseudo,
	};
}

static void begin(struct scene *s)
{
	begin_with(s, "");
}

/* Begin the same task once more. */
static void again(struct scene *s)
{
	stg_calls_deinit(&s->calls);
	s->calls = (struct stg_calls){
		.config = &s->config,
		.task = &s->data.tasks[0],
		.pseudo = &pseudo,
	};
}

static void end(struct scene *s)
{
	stg_calls_deinit(&s->calls);
	data_close(&s->data);
	recording_deinit(&s->rec);
}

static void run(struct scene *s, const char *in, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct event events[100];
	size_t nr = events_parse(in, events, ARRAY_SIZE(events));

	assert_int_equal(stg_calls(&s->calls, events, nr, NULL), 0);
	events_put(events, nr, &out);
	assert_string_equal(strbuf_str(&out), expected);
}

static void run_close(struct scene *s, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct event events[100];

	events_put(events, stg_calls_close(&s->calls, events), &out);
	assert_string_equal(strbuf_str(&out), expected);
	assert_int_equal(s->calls.nr, 0);
	assert_int_equal(s->calls.nr_seeded, 0);
}

TEST(the_usual_configuration_shows_everything)
{
	struct stage_config config = { .is_off = true, .time_filter_ns = 3 };

	stage_config_init(&config);
	assert_int_equal(config.depth, UINT32_MAX);
	assert_int_equal(config.actions, UINT32_MAX);
	assert_true(config.show_libcalls);
	assert_true(config.show_events);
	assert_int_equal(config.sched, STAGE_SCHED_ALL);
	assert_false(config.is_off);
	assert_int_equal(config.time_filter_ns, 0);
}

TEST(a_call_has_its_total_and_what_is_left_of_it)
{
	struct scene s;

	begin(&s);
	run(&s, "a{ b{ c{ c} b} d{ d}@1100 a}@1150",
	    "a{@1000.0 b{@1010.1 c{@1020.2 c}@1030.2=10/10 b}@1040.1=30/20 d{@1050.1 "
	    "d}@1100.1=50/50 a}@1150.0=150/70");
	assert_int_equal(s.calls.nr, 0);
	assert_int_equal(s.calls.last_ns, 1150);
	assert_false(s.calls.has_events);
	assert_false(s.calls.has_outside);
	assert_true(s.calls.has_record);
	end(&s);
}

/* The fast path begins with functions that were seen before. It gives the same as the slow path. */
TEST(batches_make_no_difference)
{
	static const char text[] = "a{ b{ b} b{ c{ c} c{ c} b} b{ b} a{ a} a}@1300";
	struct event events[40];
	size_t nr = events_parse(text, events, ARRAY_SIZE(events));
	struct strbuf whole cleanup_strbuf = { 0 };
	struct strbuf single cleanup_strbuf = { 0 };
	struct scene s;

	begin(&s);
	assert_int_equal(stg_calls(&s.calls, events, nr, NULL), 0);
	events_put(events, nr, &whole);
	assert_string_equal(strbuf_str(&whole),
			    "a{@1000.0 b{@1010.1 b}@1020.1=10/10 b{@1030.1 c{@1040.2 "
			    "c}@1050.2=10/10 c{@1060.2 c}@1070.2=10/10 b}@1080.1=50/30 b{@1090.1 "
			    "b}@1100.1=10/10 a{@1110.1 a}@1120.1=10/10R a}@1300.0=300/220");
	again(&s);
	events_parse(text, events, ARRAY_SIZE(events));
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(stg_calls(&s.calls, &events[i], 1, NULL), 0);
	events_put(events, nr, &single);
	assert_string_equal(strbuf_str(&single), strbuf_str(&whole));
	/* A second time, when all names are known. */
	strbuf_reset(&whole);
	nr = events_parse(text, events, ARRAY_SIZE(events));
	assert_int_equal(stg_calls(&s.calls, events, nr, NULL), 0);
	events_put(events, nr, &whole);
	assert_string_equal(strbuf_str(&single), strbuf_str(&whole));
	end(&s);
}

/* A plain batch has only known functions, and no unseen call is around them. */
TEST(a_plain_batch_is_known)
{
	struct scene s;

	begin(&s);
	run(&s, "a{ b{ b}", "a{@1000.0 b{@1010.1 b}@1020.1=10/10");
	assert_false(s.calls.is_plain);
	run(&s, "b{.1 b}.1 b{.1 b}.1", "b{@1000.1 b}@1010.1=10/10 b{@1020.1 b}@1030.1=10/10");
	assert_true(s.calls.is_plain);
	assert_int_equal(s.calls.nr, 1);
	run(&s, "b{.1 *.2", "b{@1000.1 *@1010.2");
	assert_false(s.calls.is_plain);
	assert_true(s.calls.has_events);
	run(&s, "", "");
	assert_true(s.calls.is_plain);
	assert_false(s.calls.has_events);
	/* Within a call that was entered unseen no batch is plain. */
	again(&s);
	run(&s, "a}.1 a{.1 a}.1 b{.1 b}.1",
	    "a}@1000.0:1URI a{@1010.0:1 a}@1020.0:1=10/10 b{@1030.0:1 b}@1040.0:1=10/10");
	run(&s, "b{.1 b}.1", "b{@1000.0:1 b}@1010.0:1=10/10");
	assert_false(s.calls.is_plain);
	end(&s);
}

TEST(an_empty_batch_keeps_the_time_of_the_last_event)
{
	struct scene s;

	begin(&s);
	run(&s, "a{ b{@1234", "a{@1000.0 b{@1234.1");
	run(&s, "", "");
	assert_int_equal(s.calls.last_ns, 1234);
	end(&s);
}

TEST(a_recursion_is_marked_where_it_ends_within_itself)
{
	struct scene s;

	begin(&s);
	run(&s, "a{ b{ a{ a} b{ b} b} a}",
	    "a{@1000.0 b{@1010.1 a{@1020.2 a}@1030.2=10/10R b{@1040.2 b}@1050.2=10/10R "
	    "b}@1060.1=50/30 a}@1070.0=70/20");
	run(&s, "a{ b{ a{ a} b{ b} b} a}",
	    "a{@1000.0 b{@1010.1 a{@1020.2 a}@1030.2=10/10R b{@1040.2 b}@1050.2=10/10R "
	    "b}@1060.1=50/30 a}@1070.0=70/20");
	end(&s);
}

TEST(an_exit_of_another_function_than_the_stack_says_is_unpaired)
{
	struct scene s;

	begin(&s);
	run(&s, "a{ b{ c} a}", "a{@1000.0 b{@1010.1 c}@1020.1=10/10U a}@1030.0=30/20");
	run(&s, "a{ b{ c} a}", "a{@1000.0 b{@1010.1 c}@1020.1=10/10U a}@1030.0=30/20");
	end(&s);
}

TEST(an_exit_with_nothing_open_repeats_the_last_outermost_call)
{
	struct scene s;

	begin(&s);
	run(&s, "a{ b{ b} a} c}.7 d}.8",
	    "a{@1000.0 b{@1010.1 b}@1020.1=10/10 a}@1030.0=30/20 c}@1040.0:7=30/20U "
	    "d}@1050.0:8=30/20U");
	end(&s);
	/* An outermost call that is too short for the time filter is not repeated. */
	begin(&s);
	s.config.time_filter_ns = 31;
	run(&s, "a{ b{ b} a}@1031 a{ a} c}",
	    "a{@1000.0 b{@1010.1 b}@1020.1=10/10 a}@1031.0=31/31 a{@1041.0 a}@1051.0=10/10 "
	    "c}@1061.0=31/31U");
	run(&s, "a{ b{ b} a}@1030 c}",
	    "a{@1000.0 b{@1010.1 b}@1020.1=10/10 a}@1030.0=30/30 c}@1040.0=31/31U");
	end(&s);
}

/* A forked child: its first record of a call tells how many calls are around it. */
TEST(a_task_that_begins_within_calls)
{
	struct scene s;

	begin(&s);
	run(&s, "c}.2 d{.2 d}.2 b}.1@1100 a}.0",
	    "c}@1000.0:2URI d{@1010.0:2 d}@1020.0:2=10/10 b}@1100.0:1=100/90UR a}@1110.0=110/10U");
	assert_int_equal(s.calls.inherited_depth, 2);
	again(&s);
	run(&s, "c{.2 c}.2 b}.1 a}.0",
	    "c{@1000.0:2 c}@1010.0:2=10/10 b}@1020.0:1=20/10UR a}@1030.0=30/10U");
	assert_int_equal(s.calls.inherited_depth, 2);
	again(&s);
	run(&s, "~ ^", "~@1000.0(sched)O ^@1010.0=10/10(sched)O");
	assert_true(s.calls.has_first);
	assert_false(s.calls.has_record);
	/*
	 * After these events of the scheduler, an EXIT makes no frames for the calls around its
	 * own. After an event of the program it makes them.
	 */
	run(&s, "c}.2", "c}@1000.0:2=10/10UI");
	assert_int_equal(s.calls.inherited_depth, 2);
	assert_int_equal(s.calls.nr, 0);
	again(&s);
	run(&s, "* c}.2", "*@1000.0O c}@1010.0:2URI");
	assert_int_equal(s.calls.nr, 2);
	end(&s);
}

/*
 * A call that was entered unseen has the time from the first record on, without the time of calls
 * seen in it, and never less than 0.
 */
TEST(times_of_calls_that_were_entered_unseen)
{
	struct scene s;

	begin(&s);
	run(&s, "d{.2@1000 d}.2@1040 c}.1@1040 b}.0@1100",
	    "d{@1000.0:2 d}@1040.0:2=40/40 c}@1040.0:1=40/0UR b}@1100.0=100/60U");
	/* The address of the unseen frame is 0, which is no function's. */
	again(&s);
	run(&s, "d{.1@1000 d}.1@1040 c}.0@1030", "d{@1000.0:1 d}@1040.0:1=40/40 c}@1030.0=30/0U");
	end(&s);
}

TEST(behind_a_loss_the_record_says_how_deep_it_is)
{
	struct scene s;

	begin(&s);
	run(&s, "a{ b{ ! d{.3 d}.3 c}.2 b}.1 a}.0",
	    "a{@1000.0 b{@1010.1 !@1020.2 d{@1030.3 d}@1040.3=10/10 c}@1050.2UR b}@1060.1=50/49 "
	    "a}@1070.0=70/20");
	/*
	 * The depth is smaller than before: the deeper calls have ended unseen, and later calls are
	 * no recursions.
	 */
	run(&s, "a{ b{ a{ ! b{.1 b}.1 a}.0@1300",
	    "a{@1000.0 b{@1010.1 a{@1020.2 !@1030.3 b{@1040.1 b}@1050.1=10/10 a}@1300.0=300/290");
	assert_int_equal(s.calls.nr, 0);
	run(&s, "a{ b{ a{ ! a}.0@1300 a{.0 a}.0",
	    "a{@1000.0 b{@1010.1 a{@1020.2 !@1030.3 a}@1300.0=300/300 a{@1310.0 a}@1320.0=10/10");
	/*
	 * A loss of the kernel's records does not count for the program. The kernel's records do
	 * not change the program's stack.
	 */
	run(&s, "a{ !U b{.5 b}.5 ! 'a{.9 'a}.9 b{.4",
	    "a{@1000.0 !@1010.1U b{@1020.1 b}@1030.1=10/10 !@1040.1 <8000000000001000>{@1050.1 "
	    "<8000000000001000>}@1060.1=10/10 b{@1070.4");
	assert_int_equal(s.calls.nr, 5);
	assert_int_equal(s.calls.nr_seeded, 0);
	assert_false(s.calls.wants_depth);
	end(&s);
}

TEST(a_loss_counts_as_a_call_of_one_nanosecond)
{
	struct scene s;

	begin(&s);
	run(&s, "a{ !U a} !U", "a{@1000.0 !@1010.1U a}@1020.0=20/19 !@1030.0U");
	end(&s);
}

TEST(what_was_lost_in_a_stack_that_was_seeded)
{
	struct scene s;

	begin(&s);
	/* All open calls were entered unseen, and so were the calls that opened during the loss. */
	run(&s, "b}.1 ! d{.3", "b}@1000.0:1URI !@1010.0 d{@1020.0:3");
	assert_int_equal(s.calls.nr_seeded, 3);
	again(&s);
	run(&s, "b}.2 c{.2 ! d{.4 d}.4 ! a{.1",
	    "b}@1000.0:2URI c{@1010.0:2 !@1020.1 d{@1030.2:4 d}@1040.2:4=10/10 !@1050.2:1 "
	    "a{@1060.0:1");
	assert_int_equal(s.calls.nr_seeded, 1);
	end(&s);
}

TEST(many_frames_find_room)
{
	struct stage_config *config;
	struct scene s;

	begin(&s);
	config = &s.config;
	for (unsigned depth = 15; depth < 70; depth++) {
		struct event events[200];

		again(&s);
		for (unsigned i = 0; i < depth; i++)
			events[i] = (struct event){ .time_ns = 1000 + i,
						    .addr = recording_addr(i % 2 ? "a" : "b"),
						    .type = EVENT_ENTRY };
		for (unsigned i = 0; i < depth; i++)
			events[depth + i] = (struct event){ .time_ns = 2000 + i,
							    .addr = events[depth - 1 - i].addr,
							    .type = EVENT_EXIT };
		assert_int_equal(stg_calls(&s.calls, events, 2 * depth, NULL), 0);
		for (unsigned i = 0; i < depth; i++) {
			const struct event *exit = &events[2 * depth - 1 - i];

			assert_int_equal(events[i].depth, i);
			assert_int_equal(exit->depth, i);
			assert_int_equal(exit->flags, i > 1 ? EVENT_RECURSIVE : 0);
			assert_int_equal(exit->total_ns, 1000 + depth - 1 - 2 * i);
			assert_int_equal(exit->self_ns, i == depth - 1 ? exit->total_ns : 2);
		}
		/* The same with calls that were entered unseen. */
		again(&s);
		run(&s, "a{@1", "a{@1.0");
		events[0] = (struct event){ .type = EVENT_LOST };
		events[1] = (struct event){ .type = EVENT_EXIT, .depth = depth };
		events[1].addr = recording_addr("a");
		assert_int_equal(stg_calls(&s.calls, events, 2, NULL), 0);
		assert_int_equal(s.calls.nr, depth);
		assert_true(s.calls.cap >= depth);
	}
	assert_ptr_equal(config, s.calls.config);
	end(&s);
}

TEST(times_off_the_cpu)
{
	struct scene s;

	begin(&s);
	run(&s, "a{ ~ ^@1060 b{ ~P ^@1100 b} a}",
	    "a{@1000.0 ~@1010.1(sched) ^@1060.1=50/50(sched) b{@1070.1 ~@1080.2(preempt)P "
	    "^@1100.2=20/20(preempt)P b}@1110.1=40/20 a}@1120.0=120/30");
	assert_true(s.calls.has_events);
	/* The time of leaving the CPU is not known. */
	run(&s, "^ ~ ^ ^",
	    "^@1000.0(sched)UO ~@1010.0(sched)O ^@1020.0=10/10(sched)O ^@1030.0(sched)UO");
	/* An EXIT without an open call has the duration of a time off the CPU before it. */
	run(&s, "~ ^@1077 c}", "~@1000.0(sched)O ^@1077.0=77/77(sched)O c}@1087.0=77/77U");
	s.config.time_filter_ns = 50;
	run(&s, "~ ^@1049 c}", "~@1000.0(sched)O ^@1049.0=49/49(sched)O c}@1059.0=77/77U");
	run(&s, "~ ^@1060 c}", "~@1000.0(sched)O ^@1060.0=60/60(sched)O c}@1070.0=60/60U");
	run(&s, "a{ ~ ^@1059 ~ ^@1119 a}",
	    "a{@1000.0 ~@1010.1(sched) ^@1059.1=49/49(sched) ~@1069.1(sched) ^@1119.1=50/50(sched) "
	    "a}@1129.0=129/79");
	end(&s);
}

TEST(what_is_left_out_is_its_callers_time)
{
	struct scene s;

	begin(&s);
	s.config.time_filter_ns = 10;
	run(&s, "a{ b{@1000 b}@1009 b{@1020 b}@1030 a}@1100",
	    "a{@1000.0 b{@1000.1 b}@1009.1=9/9 b{@1020.1 b}@1030.1=10/10 a}@1100.0=100/90");
	s.config.time_filter_ns = 0;
	s.config.size_filter = 17;
	run(&s, "a{ B{@1000 c{ c} B}@1040 c{@1060 c} a}@1100",
	    "a{@1000.0 B{@1000.1 c{@1010.2 c}@1020.2=10/10 B}@1040.1=40/30 c{@1060.1 "
	    "c}@1070.1=10/10 a}@1100.0=100/80");
	s.config.size_filter = 16;
	run(&s, "a{ B{@1000 c{ c} B}@1040 a}@1100",
	    "a{@1000.0 B{@1000.1 c{@1010.2 c}@1020.2=10/10 B}@1040.1=40/30 a}@1100.0=100/60");
	end(&s);
}

TEST(a_clock_that_goes_back)
{
	struct scene s;

	begin(&s);
	s.config.time_filter_ns = 10;
	run(&s, "a{@1000 b{@1050 b}@1030 b{@1050 b}@1045 a}@1100",
	    "a{@1000.0 b{@1050.1 b}@1030.1=-20/-20 b{@1050.1 b}@1045.1=-5/-5 a}@1100.0=100/120");
	run(&s, "a{@1000 a}@900 c}", "a{@1000.0 a}@900.0=-100/-100 c}@910.0=-100/-100U");
	end(&s);
}

TEST(events_know_how_deep_they_are_and_whether_outside)
{
	struct scene s;

	begin(&s);
	run(&s, "* a{ * B{ * B} a} * ? ~ ^",
	    "*@1000.0O a{@1010.0 *@1020.1 B{@1030.1 *@1040.2 B}@1050.1=20/20 a}@1060.0=50/30 "
	    "*@1070.0O ?@1080.0O ~@1090.0(sched)O ^@1100.0=10/10(sched)O");
	/* Events in a library call that is not shown are at depth 0. */
	s.config.wants = STAGE_WANTS_DEPTHS;
	run(&s, "B{ * ~ ^ B} a{ * a} a{ B{ * B} a}",
	    "B{@1000.0 *@1010.1 ~@1020.1(sched) ^@1030.1=10/10(sched) B}@1040.0=40/30 a{@1050.0 "
	    "*@1060.1 a}@1070.0=20/20 a{@1080.0 B{@1090.1 *@1100.2 B}@1110.1=20/20 "
	    "a}@1120.0=40/20");
	s.config.show_libcalls = false;
	run(&s, "B{ * ~ ^ B} a{ * a} a{ B{ * B} a}",
	    "B{@1000.0 *@1010.0:1 ~@1020.0:1(sched) ^@1030.0:1=10/10(sched) B}@1040.0=40/30 "
	    "a{@1050.0 *@1060.1 a}@1070.0=20/20 a{@1080.0 B{@1090.1 *@1100.2 B}@1110.1=20/20 "
	    "a}@1120.0=40/20");
	s.config.wants = STAGE_WANTS_CALLS;
	run(&s, "B{ * B}", "B{@1000.0 *@1010.1 B}@1020.0=20/20");
	end(&s);
	begin(&s);
	s.config.show_libcalls = false;
	s.config.wants = STAGE_WANTS_DEPTHS;
	run(&s, "c}.0 B{:0 * ! *", "c}@1000.0UI B{@1010.0 *@1020.0:1 !@1030.0:1 *@1040.0:1");
	again(&s);
	run(&s, "c}.1 B{:1 *", "c}@1000.0:1URI B{@1010.0:1 *@1020.1");
	end(&s);
}

/* The difference of a counter comes within the call, and names the call's function. */
TEST(a_difference_of_a_counter_knows_its_function)
{
	struct scene s;

	begin(&s);
	run(&s, "*#1999001 a{ *#1999001 *#1999000 *#100004 *#100002 b{ *#1999003 b} a}",
	    "*@1000.0O a{@1010.0 *@1020.1(a) *@1030.1 *@1040.1 *@1050.1 b{@1060.1 *@1070.2(b) "
	    "b}@1080.1=20/20 a}@1090.0=80/60");
	end(&s);
}

TEST(calls_of_the_kernel_that_are_in_none_of_the_program)
{
	struct scene s;

	begin(&s);
	s.calls.has_kernel = true;
	run(&s, "'a{ 'b{ 'b} 'a} a{ 'a{ 'a} a} 'a{ 'a}",
	    "<8000000000001000>{@1000.0O <8000000000001040>{@1010.1 "
	    "<8000000000001040>}@1020.1=10/10 <8000000000001000>}@1030.0=30/20 a{@1040.0 "
	    "<8000000000001000>{@1050.1 <8000000000001000>}@1060.1=10/10 a}@1070.0=30/20 "
	    "<8000000000001000>{@1080.0O <8000000000001000>}@1090.0=10/10");
	assert_true(s.calls.has_outside);
	run(&s, "a{ 'a{ 'a} a}",
	    "a{@1000.0 <8000000000001000>{@1010.1 <8000000000001000>}@1020.1=10/10 "
	    "a}@1030.0=30/20");
	assert_false(s.calls.has_outside);
	/*
	 * If a range cuts off the beginning, nothing is known before the first record of the
	 * program.
	 */
	again(&s);
	s.calls.has_kernel = true;
	s.config.starts_inside = true;
	run(&s, "'a{ 'a} a{ a} 'a{ 'a}",
	    "<8000000000001000>{@1000.0 <8000000000001000>}@1010.0=10/10 a{@1020.0 a}@1030.0=10/10 "
	    "<8000000000001000>{@1040.0O <8000000000001000>}@1050.0=10/10");
	assert_true(s.calls.has_outside);
	again(&s);
	run(&s, "'a{ 'a}", "<8000000000001000>{@1000.0 <8000000000001000>}@1010.0=10/10");
	assert_false(s.calls.has_outside);
	assert_false(s.calls.has_first);
	end(&s);
}

/*
 * The depths in the kernel's records count only calls of the kernel. The stage replaces them by the
 * depths among all calls, at the first call of a function and at later ones.
 */
TEST(depths_of_the_kernels_calls)
{
	struct scene s;

	begin(&s);
	s.calls.has_kernel = true;
	run(&s, "a{ b{ 'a{:0 'b{:1 'b}:1 'a}:0 'a{:0 'b{:1 'b}:1 'a}:0 b} a}",
	    "a{@1000.0 b{@1010.1 <8000000000001000>{@1020.2 <8000000000001040>{@1030.3 "
	    "<8000000000001040>}@1040.3=10/10 <8000000000001000>}@1050.2=30/20 "
	    "<8000000000001000>{@1060.2 <8000000000001040>{@1070.3 "
	    "<8000000000001040>}@1080.3=10/10 <8000000000001000>}@1090.2=30/20 "
	    "b}@1100.1=90/30 a}@1110.0=110/20");
	/* The call that ends is not the innermost one. */
	run(&s, "a{ 'a{:0 'c}:0 a}",
	    "a{@1000.0 <8000000000001000>{@1010.1 <8000000000001080>}@1020.1=10/10U "
	    "a}@1030.0=30/20");
	end(&s);
}

#define NEXT_SESSION "SESS timestamp=0.000002000 pid=100 sid=00000000000000ff exename=\"/x/next\"\n"

/*
 * At exec all calls of the old program end. Addresses then have their meaning in the new program.
 */
TEST(exec_leaves_all_calls_behind)
{
	struct scene s;

	begin_with(&s, NEXT_SESSION);
	run(&s, "a{@1000 b{ a{ b{@1999", "a{@1000.0 b{@1010.1 a{@1020.2 b{@1999.3");
	assert_int_equal(s.calls.changes_ns, 2000);
	run(&s, "b{@2000.0 a{ a} b}",
	    "<401044>{@2000.0 <401004>{@2010.1 <401004>}@2020.1=10/10 <401044>}@2030.0=30/20");
	assert_int_equal(s.calls.changes_ns, UINT64_MAX);
	assert_int_equal(s.calls.nr, 0);
	end(&s);
	/* An event of the new program ends the calls, too. */
	begin_with(&s, NEXT_SESSION);
	run(&s, "a{@1000 b{ *@2000", "a{@1000.0 b{@1010.1 *@2000.0:2O");
	assert_int_equal(s.calls.nr, 0);
	end(&s);
}

#define LIBRARY \
	"DLOP timestamp=0.000002000 tid=100 sid=0123456789abcdef base=700000 libname=\"/x/lib\"\n"

TEST(dlopen_leaves_calls_open)
{
	struct scene s;

	begin_with(&s, LIBRARY);
	run(&s, "a{@1000 b{ c{@1990", "a{@1000.0 b{@1010.1 c{@1990.2");
	assert_int_equal(s.calls.changes_ns, 2000);
	run(&s, "c}@2000 c{ c} b} a}",
	    "c}@2000.2:0=10/10 c{@2010.2:0 c}@2020.2=10/10 b}@2030.1=1020/1000 a}@2040.0=1040/20");
	assert_int_equal(s.calls.changes_ns, UINT64_MAX);
	end(&s);
}

TEST(what_is_open_at_the_end_is_ended)
{
	struct scene s;

	begin(&s);
	run(&s, "a{@1000 b{@1020 b}@1030 c{@1030 a{@1045 d{@1060 d}@1100",
	    "a{@1000.0 b{@1020.1 b}@1030.1=10/10 c{@1030.1 a{@1045.2 d{@1060.3 d}@1100.3=40/40");
	run_close(&s, "a}@1100.2=55/15RF c}@1100.1=70/15F a}@1100.0=100/20F");
	run(&s, "a{ a}", "a{@1000.0 a}@1010.0=10/10");
	/* Calls that were entered unseen have no name, and are left out. */
	run(&s, "a{ ! c{.3 d{", "a{@1000.0 !@1010.1 c{@1020.3 d{@1030.4");
	run_close(&s, "d}@1030.4F c}@1030.3=10/10F a}@1030.0=30/19F");
	again(&s);
	run(&s, "a}.2 b{.2 c{", "a}@1000.0:2URI b{@1010.0:2 c{@1020.1");
	run_close(&s, "c}@1020.1:3F b}@1020.0:2=10/10F");
	/*
	 * The time of a call that is too short, or of a function that is too small, belongs to the
	 * caller.
	 */
	s.config.time_filter_ns = 10;
	run(&s, "a{@1000 b{@1010 c{@1091 *@1100", "a{@1000.0 b{@1010.1 c{@1091.2 *@1100.3");
	run_close(&s, "c}@1100.2=9/9F b}@1100.1=90/90F a}@1100.0=100/10F");
	s.config.time_filter_ns = 0;
	s.config.size_filter = 17;
	run(&s, "a{@1000 B{@1010 c{@1050 *@1100", "a{@1000.0 B{@1010.1 c{@1050.2 *@1100.3");
	run_close(&s, "c}@1100.2=50/50F B}@1100.1=90/40F a}@1100.0=100/50F");
	run_close(&s, "");
	end(&s);
}

TEST(a_copy_has_the_same_calls_open)
{
	struct stg_calls copy;
	struct scene s;

	begin(&s);
	run(&s, "a{@1000 b{@1010 a{@1020", "a{@1000.0 b{@1010.1 a{@1020.2");
	/* In recordings of uftrace the stage knows only the address. */
	s.calls.frames[1].func = NULL;
	assert_int_equal(stg_calls_copy(&copy, &s.calls, NULL), 0);
	assert_int_equal(copy.nr, 3);
	assert_ptr_not_equal(copy.frames, s.calls.frames);
	assert_ptr_not_equal(copy.open, s.calls.open);
	stg_calls_deinit(&s.calls);
	s.calls = copy;
	run(&s, "b{@1030 b} a}@1060 b} a}",
	    "b{@1030.3 b}@1040.3=10/10R a}@1060.2=40/30R b}@1070.1=60/20 a}@1080.0=80/20");
	for (size_t i = 0; i < s.calls.nr_open; i++)
		assert_int_equal(s.calls.open[i], 0);
	end(&s);
}

/* The address had another meaning when the call began. */
TEST(a_copy_names_calls_by_the_time_they_began)
{
	struct stg_calls copy;
	struct scene s;

	begin_with(&s, LIBRARY);
	run(&s, "a{@1000 b{@2500", "a{@1000.0 b{@2500.1");
	s.calls.frames[0].func = NULL;
	assert_int_equal(stg_calls_copy(&copy, &s.calls, NULL), 0);
	assert_string_equal(copy.frames[0].func->name, "a");
	assert_int_equal(copy.frames[0].start_ns, 1000);
	stg_calls_deinit(&copy);
	end(&s);
}

TEST(a_task_without_sessions_has_no_addresses)
{
	struct task task = { .tid = 5 };
	struct uft_err err = { 0 };
	struct event events[2];
	struct scene s;

	begin(&s);
	s.calls.task = &task;
	run(&s, "~ ^", "~@1000.0(sched)O ^@1010.0=10/10(sched)O");
	events_parse("a{", events, 2);
	assert_int_equal(stg_calls(&s.calls, events, 1, &err), -ENODATA);
	assert_string_equal(err.text, "task 5 has no session in task.txt");
	end(&s);
}
