/*
 * The worked example of doc/internals/add-an-event.md: a type of event with two fields. The row is
 * the whole implementation. The rest checks the output of views and exporters.
 */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/shown.h"
#include "utils/export/export.h"
#include "utils/format/record.h"
#include "utils/view/dump.h"
#include "utils/view/replay/replay.h"

#define EVENT_ID_TOY (EVENT_ID_FREE + 7)

static const struct event_field toy_fields[] = {
	{ "degrees", FIELD_INT, 4, "C" },
	{ "where", FIELD_TEXT },
};
static const struct event_kind toy_rows[] = {
	{ EVENT_ID_TOY, "toy:heat", EVENT_FIELDS(toy_fields) },
};
const struct event_rows event_rows_extra = { toy_rows, ARRAY_SIZE(toy_rows) };

static struct shown shown;

/* A call of a(), in which the event happens. */
static int setup(void **state)
{
	static const uint8_t payload[16] = { 10,  0,   0xfb, 0xff, 0xff, 0xff,
					     's', 'h', 'o',  'r',  'e',	 '"' };
	struct strbuf file cleanup_strbuf = { 0 };

	shown_init(&shown);
	shown.stages.stages.wants = STAGE_WANTS_DEPTHS;
	recording_add_task(&shown.rec, 100, "", 1000);
	recording_put(&shown.rec, &file, 1000, record_data(RECORD_ENTRY, 0, 0x401004));
	recording_put(&shown.rec, &file, 1100,
		      record_data(RECORD_EVENT, 0, EVENT_ID_TOY) | RECORD_MORE);
	strbuf_add(&file, payload, sizeof(payload));
	recording_put(&shown.rec, &file, 1200, record_data(RECORD_EXIT, 0, 0x401004));
	recording_add_file(&shown.rec, "100.dat", file.data, file.len);
	return 0;
}

static int teardown(void **state)
{
	shown_deinit(&shown);
	return 0;
}

TEST_WITH(in_views, setup, teardown)
{
	const struct replay_config config = { .shows_comments = true };
	const struct dump_config files = { .stages = shown.stages };
	struct event_rules rules = { 0 };
	struct uft_err broken = { 0 };
	struct replay view;

	/* The event is chosen by its name, like any other event. */
	assert_int_equal(event_rules_parse("toy:*", MATCH_GLOB, &rules, NULL), 0);
	shown.stages.stages.events = &rules;
	shown_begin(&shown);
	assert_int_equal(replay_init(&view, &config, &shown.pipe, &shown.sink, NULL), 0);
	shown_run(&shown, replay_events, &view);
	replay_finish(&view);
	replay_deinit(&view);
	assert_non_null(
		strstr(shown_end(&shown), "/* toy:heat (degrees=-5C where=\"shore\"\") */"));
	shown_begin(&shown);
	assert_int_equal(dump_show(&shown.data, &files, &shown.sink, &broken, NULL), 1);
	assert_non_null(strstr(shown_end(&shown), "toy:heat: degrees=-5C where=\"shore\"\""));
	event_rules_deinit(&rules);
}

/*
 * Formats that have members for fields show the event's fields. The others show its text, or at
 * least its name.
 */
TEST_WITH(in_exporters, setup, teardown)
{
	static const char *const expected[EXPORT_NR] = {
		[EXPORT_chrome] = "\"name\":\"toy:heat\",\"cat\":\"toy\","
				  "\"args\":{\"degrees\":-5,\"where\":\"shore\\\"\"}}",
		[EXPORT_jsonl] =
			"\"event\":\"toy:heat\",\"data\":\"degrees=-5C where=\\\"shore\\\"\\\"\"",
		[EXPORT_firefox] =
			"{\"type\":\"Event\",\"text\":\"degrees=-5C where=\\\"shore\\\"\\\"\"}",
		[EXPORT_html] = "toy:heat (degrees=-5C where=\\\"shore\\\"\\\")",
		[EXPORT_callgrind] = "cfn=toy:heat\ncalls=1 0\n0 0\n",
	};
	const struct export_config config = { .tool = "", .sample_ns = 1, .threads = 1 };

	for (enum export_number i = 0; i < EXPORT_NR; i++) {
		const struct exporter *exporter = exporter_by_number(i);
		const char *text = expected[i] ? expected[i] : "toy:heat";
		uint64_t nr_dropped = 0;

		/* An exporter does one of three things with events, and states which. */
		assert_int_equal(!!exporter->point + exporter->points_as_calls +
					 !!exporter->drops_points,
				 1);
		pipeline_config_init(&shown.stages);
		export_configure(exporter, &shown.stages);
		shown_begin(&shown);
		export_run(exporter, &config, &shown.pipe, &shown.sink, &nr_dropped, NULL);
		shown_end(&shown);
		assert_int_equal(nr_dropped, !!exporter->drops_points);
		assert_int_equal(!nr_dropped,
				 !!memmem(shown.out.data, shown.out.len, text, strlen(text)));
	}
}
