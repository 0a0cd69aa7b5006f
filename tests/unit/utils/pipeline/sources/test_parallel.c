/*
 * The number of threads that read a recording: as many as there is work for; or one, if the order
 * of all events counts.
 */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/recording.h"
#include "utils/format/header.h"

#define MB (1UL << 20)

static struct pipeline_config config;
static struct recording rec;
static const char *argspec;

static int setup(void **state)
{
	pipeline_config_init(&config);
	config.order = PIPELINE_BY_TASK;
	recording_init(&rec);
	return 0;
}

static int teardown(void **state)
{
	recording_deinit(&rec);
	return 0;
}

/*
 * Returns the number of threads for @nr_tasks tasks with @bytes of records each, if @wanted threads
 * are allowed.
 */
static size_t threads(int nr_tasks, uint64_t bytes, size_t wanted)
{
	struct trace_data data;
	struct pipeline pipe;
	size_t nr;

	for (int i = 0; i < nr_tasks; i++)
		recording_add_task(&rec, 100 + i, "a{}", 1000);
	recording_finish(&rec);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	if (argspec) {
		arg_book_close(&data.args);
		data.info.argspec = strdup(argspec);
		assert_int_equal(arg_book_open(&data.args, &data, NULL), 0);
	}
	assert_int_equal(pipeline_open(&pipe, &data, &config, NULL), 0);
	for (size_t i = 0; i < data.nr_tasks; i++)
		data.tasks[i].data_bytes = bytes;
	assert_int_equal(pipeline_bytes(&pipe), nr_tasks * bytes);
	nr = pipeline_threads(&pipe, wanted);
	pipeline_close(&pipe);
	data_close(&data);
	return nr;
}

TEST_WITH(little_work, setup, teardown)
{
	assert_int_equal(threads(2, 1000, 8), 1);
	assert_int_equal(threads(2, 1000, 0), 1);
}

/* One thread reads a megabyte. There are no more threads than wanted. */
TEST_WITH(much_work, setup, teardown)
{
	assert_int_equal(threads(1, 3 * MB, 8), 4);
	assert_int_equal(threads(1, 30 * MB, 8), 8);
	assert_int_equal(threads(1, 30 * MB, 0), 1);
	assert_int_equal(threads(1, 300 * MB, 100), READERS_MAX);
}

/* A task that cannot be split, or is too small for that, has at most one thread. */
TEST_WITH(tasks_that_stay_whole, setup, teardown)
{
	assert_int_equal(threads(2, MB - 1, 8), 2);
	config.stages.time_filter_ns = 1;
	assert_int_equal(threads(2, 30 * MB, 8), 2);
}

TEST_WITH(order_by_time, setup, teardown)
{
	config.order = PIPELINE_BY_TIME;
	assert_int_equal(threads(1, 30 * MB, 8), 1);
}

TEST_WITH(arguments, setup, teardown)
{
	static const uint64_t features[] = { FEAT_ARGUMENT, FEAT_RETVAL };

	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		rec.features = features[i];
		assert_int_equal(threads(1, 30 * MB, 8), 1);
	}
	/* The header denies them, but records may have payloads all the same. */
	rec.features = 0;
	argspec = "a@arg1";
	assert_int_equal(threads(1, 30 * MB, 8), 1);
	argspec = NULL;
	assert_int_equal(threads(1, 30 * MB, 8), 8);
}

TEST_WITH(filters, setup, teardown)
{
	config.stages.size_filter = 17;
	config.stages.depth = 3;
	assert_int_equal(threads(1, 30 * MB, 8), 1);
}

/* One more thread is worth a megabyte. Only a large task that can be split has several. */
TEST_WITH(tasks_of_several_sizes, setup, teardown)
{
	static const struct {
		uint64_t bytes[4];
		size_t wanted;
		size_t nr;
	} cases[] = {
		{ { MB - 1 }, 8, 1 },
		{ { MB }, 8, 2 },
		{ { 2 * MB - 1 }, 8, 2 },
		{ { 2 * MB }, 8, 3 },
		{ { 2 * MB }, 2, 2 },
		{ { MB - 1, 1 }, 8, 2 },
		{ { MB - 1, MB - 1, MB - 1, MB - 1 }, 8, 4 },
		{ { MB - 1, MB - 1, MB - 1, MB - 1 }, 3, 3 },
		{ { MB, MB, MB, MB }, 8, 5 },
		{ { 100 * MB, 1, 1, 1 }, 8, 8 },
		{ { 30 * MB, 30 * MB, 30 * MB, 30 * MB }, 16, 16 },
		{ { 30 * MB, 30 * MB, 30 * MB, 30 * MB }, 17, 16 },
		{ { 0, 0, 0, 0 }, 8, 1 },
	};
	struct trace_data data;
	struct pipeline pipe;

	for (int i = 0; i < 4; i++)
		recording_add_task(&rec, 100 + i, "a{}", 1000);
	recording_finish(&rec);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(pipeline_open(&pipe, &data, &config, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t k = 0; k < data.nr_tasks; k++)
			data.tasks[k].data_bytes = cases[i].bytes[k];
		assert_int_equal(pipeline_threads(&pipe, cases[i].wanted), cases[i].nr);
	}
	pipeline_close(&pipe);
	data_close(&data);
}
