/* Exports of small recordings: times, and values of calls whose beginnings or ends are missing. */
#include "tests/unit/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/lib/read/shown.h"
#include "utils/export/export.h"

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

/* Returns the recording in a format. "a" has the argument and the return value of an int. */
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
