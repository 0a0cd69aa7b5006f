/* Exports of small recordings: times, and values of calls whose beginnings or ends are missing. */
#include "tests/unit/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/lib/read/shown.h"
#include "utils/export/export.h"
#include "utils/format/header.h"
#include "utils/format/record.h"

static struct shown shown;

static int setup(void **state)
{
	shown_init(&shown);
	return 0;
}

static int teardown(void **state)
{
	shown_deinit(&shown);
	return 0;
}

/* Returns the recording in a format. The function "a" takes an int and returns an int. */
static const char *export_as(enum export_number number)
{
	const struct export_config config = { .tool = "", .shows_args = true, .threads = 1 };
	const struct exporter *exporter = exporter_by_number(number);
	struct trace_data *data = &shown.data;
	uint64_t nr_dropped;

	pipeline_config_init(&shown.stages);
	export_configure(exporter, &shown.stages);
	shown_begin(&shown);
	arg_book_close(&data->args);
	data->info.argspec = strdup("a@arg1/i32");
	data->info.retspec = strdup("a@retval/i32");
	assert_int_equal(arg_book_open(&data->args, data, NULL), 0);
	assert_int_equal(export_run(exporter, &config, &shown.pipe, &shown.sink, &nr_dropped, NULL),
			 0);
	return shown_end(&shown);
}

/* A recording may begin in the first second of its clock. */
TEST_WITH(times_of_the_first_second, setup, teardown)
{
	const char *text;

	recording_add_task(&shown.rec, 100, "a{}", 1000);
	text = export_as(EXPORT_chrome);
	assert_non_null(strstr(text, "},\n{\"ts\":1.000,\"ph\":\"B\""));
	assert_non_null(strstr(text, "},\n{\"ts\":1.010,\"ph\":\"E\""));
}

/* Put a record of "a" with an int. */
static void put_value(struct strbuf *file, uint64_t time_ns, enum record_type type, unsigned depth,
		      uint8_t value)
{
	const uint8_t payload[8] = { value };

	recording_put(&shown.rec, file, time_ns,
		      record_data(type, depth, recording_addr("a")) | RECORD_MORE);
	strbuf_add(file, payload, sizeof(payload));
}

static void put_lost(struct strbuf *file)
{
	recording_put(&shown.rec, file, 0, record_data(RECORD_LOST, 0, 1));
}

/* Returns the number of occurrences of @text in the bytes of the last export. */
static size_t count_of(const char *text)
{
	const char *at = shown.out.data;
	const char *end = at + shown.out.len;
	size_t nr = 0;

	while ((at = memmem(at, end - at, text, strlen(text)))) {
		at++;
		nr++;
	}
	return nr;
}

/*
 * An entry or an end first ends calls of the same function whose ends are lost. Its values do not
 * belong to these calls.
 */
TEST_WITH(values_after_lost_ends, setup, teardown)
{
	static const struct {
		enum export_number number;
		const char *text;
		size_t nr;
	} cases[] = {
		{ EXPORT_chrome, "\"retval\":\"", 2 },	{ EXPORT_chrome, "\"arguments\":\"(", 4 },
		{ EXPORT_firefox, "\"retval\":\"", 2 }, { EXPORT_firefox, "\"arguments\":\"(", 4 },
		{ EXPORT_perfetto, "retval", 2 },	{ EXPORT_perfetto, "arguments", 4 },
		{ EXPORT_html, "(1) = 9", 1 },		{ EXPORT_html, "(2) = 9", 0 },
		{ EXPORT_html, "(4) = 8", 1 },		{ EXPORT_html, "(3) = ", 0 },
	};
	struct strbuf file cleanup_strbuf = { 0 };

	shown.rec.features = FEAT_ARGUMENT | FEAT_RETVAL;
	recording_add_task(&shown.rec, 100, "", 1000);
	put_value(&file, 1000, RECORD_ENTRY, 0, 1);
	put_value(&file, 1010, RECORD_ENTRY, 1, 2);
	put_lost(&file);
	put_value(&file, 1020, RECORD_EXIT, 0, 9);
	put_value(&file, 1030, RECORD_ENTRY, 0, 3);
	put_lost(&file);
	put_value(&file, 1040, RECORD_ENTRY, 0, 4);
	put_value(&file, 1050, RECORD_EXIT, 0, 8);
	recording_add_file(&shown.rec, "100.dat", file.data, file.len);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		export_as(cases[i].number);
		assert_int_equal(count_of(cases[i].text), cases[i].nr);
	}
}

/* Arguments of a call whose end is lost do not go to later calls of the same depth. */
TEST_WITH(arguments_after_lost_ends, setup, teardown)
{
	const uint64_t b = recording_addr("b");
	struct strbuf file cleanup_strbuf = { 0 };

	recording_add_task(&shown.rec, 100, "", 1000);
	put_value(&file, 1000, RECORD_ENTRY, 0, 1);
	put_lost(&file);
	recording_put(&shown.rec, &file, 1010, record_data(RECORD_ENTRY, 0, b));
	recording_put(&shown.rec, &file, 1020, record_data(RECORD_EXIT, 0, b));
	put_value(&file, 1030, RECORD_ENTRY, 0, 2);
	put_lost(&file);
	recording_put(&shown.rec, &file, 1040, record_data(RECORD_EXIT, 0, b));
	put_value(&file, 1050, RECORD_ENTRY, 0, 3);
	put_value(&file, 1060, RECORD_EXIT, 0, 4);
	recording_add_file(&shown.rec, "100.dat", file.data, file.len);
	export_as(EXPORT_jsonl);
	assert_int_equal(count_of("\"name\":\"b\""), 2);
	assert_int_equal(count_of("\"arguments\""), 1);
	assert_int_equal(count_of("\"arguments\":\"(3)\",\"retval\":\"4\""), 1);
}

/* The id of the clock is the eighth byte of the file: 1 is the time of day, 3 counts from boot. */
static void check_clock(uint64_t start_ns, char id)
{
	recording_add_task(&shown.rec, 100, "a{}", start_ns);
	export_as(EXPORT_perfetto);
	assert_memory_equal(shown.out.data + 6, "\x08", 1);
	assert_memory_equal(shown.out.data + 7, &id, 1);
}

TEST_WITH(clock_that_counts_from_boot, setup, teardown)
{
	check_clock(1000, 3);
}

TEST_WITH(clock_of_the_time_of_day, setup, teardown)
{
	check_clock(1800000000000000000ULL, 1);
}

/* A profile has the time of day at which the recording began. */
TEST_WITH(time_of_day_of_a_profile, setup, teardown)
{
	/* Field 9, and the number of 1800000000000000000 ns. */
	static const char time_nanos[] = "\x48\x80\x80\xd0\x9d\xe9\xce\xb8\xfd\x18";

	recording_add_task(&shown.rec, 100, "a{}", 1800000000000000000ULL);
	export_as(EXPORT_pprof);
	assert_int_equal(count_of(time_nanos), 1);
}

/* Time ranges of the page begin with the first record that has a time. */
TEST_WITH(losses_only, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "!", 1000);
	recording_add_task(&shown.rec, 101, "a{}", 2000);
	export_as(EXPORT_html);
	assert_int_equal(count_of("\"base\":\"2000\",\"zero\":0,"), 1);
}

/* An event after all beginnings and ends of calls extends the time of its thread. */
TEST_WITH(last_event_of_a_thread, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "a{ *", 1000);
	assert_non_null(strstr(export_as(EXPORT_firefox),
			       "\"registerTime\":0.000000,\"unregisterTime\":0.001010,"));
}

/* A recording without events begins at 0. */
TEST_WITH(no_events, setup, teardown)
{
	recording_add_task(&shown.rec, 100, "", 1000);
	assert_non_null(strstr(export_as(EXPORT_firefox), "\"startTime\":0,"));
	export_as(EXPORT_html);
	assert_int_equal(count_of("\"base\":\"0\""), 1);
}
