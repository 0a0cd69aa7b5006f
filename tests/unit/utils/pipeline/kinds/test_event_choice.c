/* Unit tests of utils/pipeline/kinds/event_choice.c, event_kinds.c and kinds_*.c. */
#include "tests/unit/lib/unit.h"

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
