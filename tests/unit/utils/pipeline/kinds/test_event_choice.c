/* Unit tests of utils/pipeline/kinds/event_choice.c, event_kinds.c and kinds_*.c. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "tests/unit/lib/read/recording.h"
#include "utils/format/header.h"
#include "utils/pipeline/kinds/event_choice.h"

static const char event_lines[] = "EVENT: 1000001 app:start\nEVENT: 1000000 app:stop\n";

/* Check which events of a task the rules keep. The task has one event of each kind. */
static void check(const char *rules_text, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct strbuf sched cleanup_strbuf = { 0 };
	struct event_rules rules = { 0 };
	struct pipeline_config config;
	struct recording rec;

	assert_int_equal(event_rules_parse(rules_text, MATCH_REGEX, &rules, NULL), 0);
	pipeline_config_init(&config);
	config.stages.wants = STAGE_WANTS_DEPTHS;
	config.stages.events = &rules;
	recording_init(&rec);
	rec.features = FEAT_EVENT;
	recording_add_task(&rec, 100, "a{*b{ }!}", 1000);
	perf_add_sched(&sched, 'o', 100, 1025);
	perf_add_sched(&sched, 'i', 100, 1028);
	recording_add_file(&rec, "perf-cpu0.dat", sched.data, sched.len);
	recording_add_file(&rec, "events.txt", event_lines, strlen(event_lines));
	recording_finish(&rec);
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), expected);
	recording_deinit(&rec);
	event_rules_deinit(&rules);
}

TEST(chosen)
{
	check("", "100:a{*b{~^}!}");
	check("app:start", "100:a{*b{}!}");
	check("app:.*", "100:a{*b{}!}");
	check("app:stop", "100:a{b{}!}");
	check("linux:schedule", "100:a{b{~^}!}");
	check("linux:sched-in", "100:a{b{~^}!}");
	check("linux:.*;app:start", "100:a{*b{~^}!}");
	check("app:start@kernel", "100:a{b{}!}");
}

static struct event point(uint64_t id)
{
	return (struct event){ .type = EVENT_POINT, .addr = id };
}

TEST(builtin)
{
	struct event_rules rules = { 0 };
	struct event_choice choice;
	struct trace_data data = { .dir = "." };
	struct event event;

	assert_int_equal(event_choice_make(&choice, &rules, &data, NULL), 0);
	event = point(EVENT_ID_READ_STATM);
	assert_true(event_choice_has(&choice, &event));
	event_choice_deinit(&choice);

	assert_int_equal(
		event_rules_parse("^(read|diff):;external-data", MATCH_REGEX, &rules, NULL), 0);
	assert_int_equal(event_choice_make(&choice, &rules, &data, NULL), 0);
	event = point(EVENT_ID_READ_STATM);
	assert_true(event_choice_has(&choice, &event));
	event = point(EVENT_ID_DIFF_PMU_BRANCH);
	assert_true(event_choice_has(&choice, &event));
	event = point(EVENT_ID_WATCH_CPU);
	assert_false(event_choice_has(&choice, &event));
	event = point(EVENT_ID_USER + 7);
	assert_false(event_choice_has(&choice, &event));
	/* This event belongs to its call, so it is always kept. */
	event = point(EVENT_ID_CALLSITE);
	assert_true(event_choice_has(&choice, &event));
	event = (struct event){ .type = EVENT_EXTERN };
	assert_true(event_choice_has(&choice, &event));
	event = (struct event){ .type = EVENT_SCHED_IN };
	assert_false(event_choice_has(&choice, &event));
	event_choice_deinit(&choice);
	event_rules_deinit(&rules);
}

/* Rules about one kind of source do not choose another one. */
TEST(sources_that_are_chosen)
{
	static const struct {
		const char *rules;
		bool has_sched;
		bool has_extern;
		bool has_user;
	} rows[] = {
		{ "linux:schedule", true, false, false },
		{ "linux:sched-out", true, false, false },
		{ "external-data", false, true, false },
		{ "app:start", false, false, false },
		{ "read:proc/statm", false, false, false },
		{ "external-data;linux:schedule", true, true, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct event_rules rules = { 0 };
		struct event_choice choice;
		struct trace_data data = { .dir = "." };
		struct event out = { .type = EVENT_SCHED_OUT };
		struct event in = { .type = EVENT_SCHED_IN };
		struct event line = { .type = EVENT_EXTERN };
		struct event user = point(EVENT_ID_USER + 7);
		struct event statm = point(EVENT_ID_READ_STATM);

		assert_int_equal(event_rules_parse(rows[i].rules, MATCH_REGEX, &rules, NULL), 0);
		assert_int_equal(event_choice_make(&choice, &rules, &data, NULL), 0);
		assert_int_equal(event_choice_has(&choice, &out), rows[i].has_sched);
		assert_int_equal(event_choice_has(&choice, &in), rows[i].has_sched);
		assert_int_equal(event_choice_has(&choice, &line), rows[i].has_extern);
		assert_int_equal(event_choice_has(&choice, &user), rows[i].has_user);
		assert_int_equal(event_choice_has(&choice, &statm), i == 4);
		event_choice_deinit(&choice);
		assert_null(choice.rules);
		assert_null(choice.ids);
		assert_int_equal(choice.nr, 0);
		event_rules_deinit(&rules);
	}
}

/* A program may name an event after the events were chosen. Only a growing recording is read on. */
TEST(names_that_come_later)
{
	static const char lines[] = "EVENT: 1000001 app:start\nEVENT: 1000002 app:late\n"
				    "EVENT: 1000003 app:other\n";

	for (unsigned grows = 0; grows < 2; grows++) {
		struct event_rules rules = { 0 };
		struct event_choice choice;
		struct trace_data data;
		struct recording rec;
		struct event event;

		assert_int_equal(event_rules_parse("app:late", MATCH_REGEX, &rules, NULL), 0);
		recording_init(&rec);
		rec.features = FEAT_EVENT;
		recording_add_file(&rec, "events.txt", lines, 25);
		recording_finish(&rec);
		if (grows)
			assert_int_equal(data_open_growing(&data, rec.dir, DEMANGLE_SIMPLE, NULL),
					 0);
		else
			assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
		assert_int_equal(event_choice_make(&choice, &rules, &data, NULL), 0);
		event = point(EVENT_ID_USER + 2);
		assert_false(event_choice_has(&choice, &event));
		recording_add_file(&rec, "events.txt", lines, strlen(lines));
		assert_int_equal(event_choice_has(&choice, &event), grows);
		event = point(EVENT_ID_USER + 1);
		assert_false(event_choice_has(&choice, &event));
		event = point(EVENT_ID_USER + 3);
		assert_false(event_choice_has(&choice, &event));
		/* An event without a name, and one that the probe reads. */
		event = point(EVENT_ID_USER + 4);
		assert_false(event_choice_has(&choice, &event));
		event = point(EVENT_ID_READ_STATM);
		assert_false(event_choice_has(&choice, &event));
		event_choice_deinit(&choice);
		event_rules_deinit(&rules);
		data_close(&data);
		recording_deinit(&rec);
	}
}

/* Damaged names are an error, since it is unknown which events they choose. */
TEST(names_that_cannot_be_read)
{
	struct event_rules rules = { 0 };
	struct event_choice choice;
	struct uft_err err = { 0 };
	struct trace_data data;
	struct recording rec;

	assert_int_equal(event_rules_parse("app:start", MATCH_REGEX, &rules, NULL), 0);
	recording_init(&rec);
	rec.features = FEAT_EVENT;
	recording_add_file(&rec, "events.txt", "nonsense\n", 9);
	recording_finish(&rec);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(event_choice_make(&choice, &rules, &data, &err), -EINVAL);
	assert_non_null(strstr(err.text, "events.txt': line 1"));
	event_choice_deinit(&choice);
	/* Without rules, no names are needed. */
	assert_int_equal(event_choice_make(&choice, NULL, &data, NULL), 0);
	assert_null(choice.rules);
	event_choice_deinit(&choice);
	event_rules_deinit(&rules);
	data_close(&data);
	recording_deinit(&rec);
}
