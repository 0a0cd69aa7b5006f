/*
 * Calls that are too short are left out, with all events in them. The others pass as soon as they
 * are known to be long enough.
 */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/events.h"
#include "utils/pipeline/stages/stage.h"

/*
 * Runs @in through the stage. @out has exactly the room that the stage asks for.
 */
static void run(struct stg_time *stage, const char *in, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct event events[100];
	size_t nr = events_parse(in, events, ARRAY_SIZE(events));
	size_t room = stg_time_room(stage, nr);
	struct event *out = calloc(room + 1, sizeof(*out));
	ssize_t got = stg_time(stage, events, nr, out);

	assert_true(got >= 0);
	assert_true((size_t)got <= room);
	events_put(out, got, &text);
	assert_string_equal(strbuf_str(&text), expected);
	free(out);
}

static void run_due(struct stg_time *stage, uint64_t now_ns, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct event out[100];
	ssize_t got = stg_time_due(stage, now_ns, out);

	assert_true(got >= 0);
	events_put(out, got, &text);
	assert_string_equal(strbuf_str(&text), expected);
}

static void finish(struct stg_time *stage, const char *expected)
{
	struct strbuf text cleanup_strbuf = { 0 };
	struct event out[100];
	ssize_t got = stg_time_finish(stage, out);

	assert_true(got >= 0);
	events_put(out, got, &text);
	assert_string_equal(strbuf_str(&text), expected);
	assert_int_equal(stg_time_room(stage, 0), 0);
	stg_time_deinit(stage);
	assert_null(stage->held);
}

TEST(a_call_is_shown_from_the_limit_on)
{
	struct stg_time stage = { .threshold_ns = 30 };

	run(&stage, "a{@1000 a}@1029=29 b{@1100 b}@1130=30 c{@1200 c}@1231=31",
	    "b{@1100.0 b}@1130.0=30/0 c{@1200.0 c}@1231.0=31/0");
	finish(&stage, "");
}

TEST(what_is_in_a_short_call_goes_with_it)
{
	struct stg_time stage = { .threshold_ns = 30 };

	run(&stage, "a{@1000 b{@1001 ?.2 b}@1002=1 c{@1003 c}@1004=1 a}@1010=10", "");
	/* A short call within a long one is dropped. */
	run(&stage, "a{@2000 b{@2001 b}@2002=1 c{@2003 d{@2004 d}@2005=1 c}@2033=30 a}@2040=40",
	    "a{@2000.0 c{@2003.1 c}@2033.1=30/0 a}@2040.0=40/0");
	finish(&stage, "");
}

/* A batch may end anywhere. */
TEST(what_waits_comes_with_a_later_batch)
{
	struct stg_time stage = { .threshold_ns = 30 };

	run(&stage, "a{@1000 b{", "");
	assert_int_equal(stg_time_room(&stage, 5), 7);
	run(&stage, "b}@1020.1=10", "");
	run(&stage, "c{@1029.1", "");
	run(&stage, "c}@1030.1=1", "a{@1000.0");
	assert_int_equal(stg_time_room(&stage, 0), 0);
	run(&stage, "a}@1031=31", "a}@1031.0=31/0");
	finish(&stage, "");
}

TEST(a_loss_lets_everything_go)
{
	struct stg_time stage = { .threshold_ns = 30 };

	run(&stage, "a{@1000 b{ !@1012 b}@1013.1=3 a}@1014=14",
	    "a{@1000.0 b{@1010.1 !@1012.2 b}@1013.1=3/0 a}@1014.0=14/0");
	finish(&stage, "");
}

/* An event that was requested by name keeps the calls around it. Other events wait with them. */
TEST(an_event_of_the_program_keeps_its_calls)
{
	struct stg_time stage = { .threshold_ns = 30 };

	run(&stage, "a{@1000 b{ *@1012.2 b}@1013=3 a}@1014=14",
	    "a{@1000.0 b{@1010.1 *@1012.2 b}@1013.1=3/0 a}@1014.0=14/0");
	run(&stage, "a{@1000 b{ *@1012.2#5 b}@1013=3 a}@1014=14", "");
	run(&stage, "a{@1000 *@1012.1#5 *@1013#5 ?@1014.1 a}@1040=40",
	    "a{@1000.0 *@1012.1 *@1013.1 ?@1014.1 a}@1040.0=40/0");
	/* If no call waits, the event passes at once. */
	run(&stage, "*@1012#5 ?@1020 *@1021", "*@1012.0 ?@1020.0 *@1021.0");
	finish(&stage, "");
}

TEST(an_exit_that_was_not_entered_here_passes)
{
	struct stg_time stage = { .threshold_ns = 30 };

	run(&stage, "a}@1000=5U b}@1001=5", "a}@1000.0=5/0U b}@1001.0=5/0");
	/* The EXIT has the depth of a waiting call, which goes on waiting. */
	run(&stage, "a{@1010 c}@1012.0=2U", "c}@1012.0=2/0U");
	/* No call at this depth waits. */
	run(&stage, "c}@1013.5=2", "c}@1013.5=2/0");
	/* The depth is the same, but this call was long. */
	run(&stage, "c}@1014.0=30", "c}@1014.0=30/0");
	run(&stage, "c}@1015.0=29", "");
	finish(&stage, "");
}

/* The clock went back: the absolute difference counts. */
TEST(a_time_below_nothing_counts_by_its_size)
{
	struct stg_time stage = { .threshold_ns = 30 };

	run(&stage, "a{@1000 b{@1029 b}@1029=-29", "");
	run(&stage, "b{@1029.1 b}@1029.1=-30", "b}@1029.1=-30/0");
	finish(&stage, "a{@1000.0 b{@1029.1");
}

TEST(times_off_the_cpu_are_like_calls)
{
	struct stg_time stage = { .threshold_ns = 30 };

	run(&stage, "~@1000 ^@1029=29 ~@1100 ^@1130=30", "~@1100.0 ^@1130.0=30/0");
	/* An end without a beginning of its own kind ends nothing else. */
	run(&stage, "~@1200.0 a}@1201.0=1", "a}@1201.0=1/0");
	run(&stage, "^@1202.0=2", "");
	run(&stage, "a{@1300 ^@1301.0=1", "^@1301.0=1/0");
	run(&stage, "a}@1302=2", "");
	run(&stage, "a{@1400 ~@1401 ^@1402.1=1 a}@1403=3", "");
	finish(&stage, "");
}

/* The source uses the memory of a payload again for its next batch. */
TEST(payloads_are_kept_as_long_as_they_wait_and_until_the_next_batch)
{
	struct stg_time stage = { .threshold_ns = 30 };
	uint8_t bytes[] = "abcd";
	struct event events[3];
	struct event out[10];

	events_parse("a{@1000 *@1001.1#5 ?@1002.1", events, 3);
	events[0].data = bytes;
	events[0].data_len = 4;
	events[1].data = bytes + 1;
	events[1].data_len = 0;
	assert_int_equal(stg_time(&stage, events, 3, out), 0);
	memcpy(bytes, "xxxx", 4);
	events_parse("a}@1040=40", events, 3);
	assert_int_equal(stg_time(&stage, events, 1, out), 4);
	assert_ptr_not_equal(out[0].data, bytes);
	assert_memory_equal(out[0].data, "abcd", 4);
	assert_int_equal(out[0].data_len, 4);
	assert_non_null(out[1].data);
	assert_int_equal(out[1].data_len, 0);
	assert_null(out[2].data);
	assert_int_equal(stage.nr_released, 2);
	assert_int_equal(stg_time(&stage, events, 0, out), 0);
	assert_int_equal(stage.nr_released, 0);
	/*
	 * Payloads of dropped events, and of events that wait at the end, are freed. A sanitizer
	 * would find a leak.
	 */
	events_parse("a{@2000 b{", events, 3);
	events[0].data = events[1].data = bytes;
	events[0].data_len = events[1].data_len = 4;
	assert_int_equal(stg_time(&stage, events, 2, out), 0);
	events_parse("b}.1@2015=5", events, 3);
	assert_int_equal(stg_time(&stage, events, 1, out), 0);
	stg_time_deinit(&stage);
	assert_null(stage.released);
	assert_int_equal(stage.threshold_ns, 0);
}

TEST(many_calls_may_wait)
{
	struct stg_time stage = { .threshold_ns = 1000000 };
	struct event events[64];
	struct event out[600];
	unsigned at = 0;

	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < 20; i++) {
			struct event *event = &events[i];

			*event = (struct event){ .type = EVENT_ENTRY, .depth = i };
			event->time_ns = 1000 + round * 20 + i;
		}
		assert_int_equal(stg_time(&stage, events, 20, out), 0);
	}
	assert_int_equal(stg_time_room(&stage, 0), 400);
	/* When a new call comes, the first call that waits has become long enough, and passes. */
	for (unsigned i = 0; i < 300; i++) {
		events[0] =
			(struct event){ .type = EVENT_ENTRY, .depth = 20, .time_ns = 1001000 + i };
		assert_int_equal(stg_time(&stage, events, 1, out), 1);
		assert_int_equal(out[0].time_ns, 1000 + at++);
		assert_int_equal(stg_time_room(&stage, 0), 400);
	}
	assert_int_equal(stg_time_finish(&stage, out), 400);
	for (unsigned i = 0; i < 400; i++)
		assert_int_equal(out[i].time_ns, i < 100 ? 1000 + at + i : 1001000 + i - 100);
	stg_time_deinit(&stage);
}

TEST(what_has_not_returned_passes_at_the_end)
{
	struct stg_time stage = { .threshold_ns = 30 };

	run(&stage, "a{@1000 ?.1 b{", "");
	finish(&stage, "a{@1000.0 ?@1010.1 b{@1020.1");
}

/* In a growing recording, a call is due when it has lasted long enough. */
TEST(what_lasts_long_enough_is_due)
{
	struct stg_time stage = { .threshold_ns = 30 };

	assert_int_equal(stg_time_waits_since(&stage), UINT64_MAX);
	run(&stage, "a{@1000 b{ ?.2", "");
	assert_int_equal(stg_time_waits_since(&stage), 1000);
	run_due(&stage, 1029, "");
	run_due(&stage, 1030, "a{@1000.0");
	assert_int_equal(stg_time_waits_since(&stage), 1010);
	run_due(&stage, 1039, "");
	run_due(&stage, 1040, "b{@1010.1 ?@1020.2");
	assert_int_equal(stg_time_waits_since(&stage), UINT64_MAX);
	finish(&stage, "");
	stage.threshold_ns = UINT64_MAX;
	run(&stage, "a{@1000", "");
	assert_int_equal(stg_time_waits_since(&stage), UINT64_MAX);
	stg_time_deinit(&stage);
	stage.threshold_ns = UINT64_MAX - 1001;
	run(&stage, "a{@1000", "");
	assert_int_equal(stg_time_waits_since(&stage), 1000);
	finish(&stage, "a{@1000.0");
}

/* --- calls with their own thresholds --- */

TEST(each_call_may_have_a_limit_of_its_own)
{
	struct stg_time stage = { .has_own_thresholds = true };

	run(&stage, "a{@1000=10 a}@1009=9 b{@1100=20 b}@1120=20 c{@1200=0 c}@1200=0",
	    "b{@1100.0=20/0 b}@1120.0=20/0 c{@1200.0 c}@1200.0");
	/* A call that is long enough keeps the calls around it. */
	run(&stage, "a{@2000=100 b{@2001=90 c{@2002=10 c}@2012=10",
	    "a{@2000.0=100/0 b{@2001.1=90/0 c{@2002.2=10/0 c}@2012.2=10/0");
	run(&stage, "b}@2020.1=19 a}@2021=21", "b}@2020.1=19/0 a}@2021.0=21/0");
	/* Events in a short call are dropped with it. A long call in it is not. */
	run(&stage, "a{@3000=10 ?.1 *.1#5 b{@3031=20 ?.2 b}@3032=1 a}@3033=33",
	    "a{@3000.0=10/0 ?@3010.1 *@3020.1 a}@3033.0=33/0");
	finish(&stage, "");
}

TEST(nothing_is_looked_for_before_it_is_due)
{
	struct stg_time stage = { .has_own_thresholds = true };

	run(&stage, "a{@1000=50 b{@1010=15 c{@1012=100", "");
	assert_int_equal(stage.due_ns, 1025);
	run(&stage, "c}@1014.2=2", "");
	run_due(&stage, 1024, "");
	run_due(&stage, 1025, "a{@1000.0=50/0 b{@1010.1=15/0");
	run(&stage, "b}@1026.1=16", "b}@1026.1=16/0");
	/* due_ns is the time at which the first waiting call becomes due. */
	run(&stage, "a{@2000=50 b{@2000=30 c{@2000=40 d{@2000=20", "");
	assert_int_equal(stage.due_ns, 2020);
	run(&stage, "d}@2019.3=19", "");
	run_due(&stage, 2020, "");
	assert_int_equal(stage.due_ns, 2030);
	run_due(&stage, 2030, "a{@2000.0=50/0 b{@2000.1=30/0");
	assert_int_equal(stage.due_ns, 2040);
	assert_int_equal(stg_time_waits_since(&stage), 2000);
	run_due(&stage, 2039, "");
	run_due(&stage, 2040, "c{@2000.2=40/0");
	/* Nothing waits, so this call alone decides when it is due. */
	run(&stage, "a{@3000=500", "");
	assert_int_equal(stage.due_ns, 3500);
	finish(&stage, "a{@3000.0=500/0");
}

/* With UINT64_MAX, a call is shown only if something in it is. */
TEST(a_call_may_be_never_long_enough)
{
	struct stg_time stage = { .has_own_thresholds = true };

	run(&stage, "a{@1000=0xffffffffffffffff a}@999999=998999", "");
	run(&stage, "a{@1000=0xffffffffffffffff b{@1001=5 b}@1006=5 a}@1010=10",
	    "a{@1000.0=-1/0 b{@1001.1=5/0 b}@1006.1=5/0 a}@1010.0=10/0");
	run(&stage, "a{@1000=0xffffffffffffffff", "");
	assert_int_equal(stg_time_waits_since(&stage), UINT64_MAX);
	run_due(&stage, UINT64_MAX, "");
	run(&stage, "b{@1000=0xfffffffffffffc16", "");
	assert_int_equal(stage.due_ns, UINT64_MAX - 1);
	run_due(&stage, UINT64_MAX - 1, "a{@1000.0=-1/0 b{@1000.0=-1002/0");
	stg_time_deinit(&stage);
}
