/*
 * The number of threads that read a recording: as many as there is work for; or one, if the order
 * of all events counts.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>

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

/* There is a thread for each megabyte, and one more, but there are no more than wanted. */
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
	/* The header denies payloads, but records may have them all the same. */
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

/* --- runs --- */

/*
 * The events that one thread has got. @is_wrong: a part is of another task, or within too many
 * calls. @code: the error of the view; 0: none
 */
struct seen {
	size_t nr_entries;
	size_t nr_exits;
	uint64_t total_ns;
	size_t nr_resumed;
	size_t nr_starts;
	bool is_wrong;
	int code;
};

static int see(void *self, const struct event_span *span, struct uft_err *err)
{
	struct seen *seen = self;

	if (seen->code)
		return err_set(err, seen->code, "no room on the screen");
	for (size_t i = 0; i < span->nr; i++) {
		seen->nr_entries += span->events[i].type == EVENT_ENTRY;
		if (span->events[i].type != EVENT_EXIT)
			continue;
		seen->nr_exits++;
		seen->total_ns += span->events[i].total_ns;
	}
	return 0;
}

static int resume(void *self, const struct view_resume *at, struct uft_err *err)
{
	struct seen *seen = self;

	seen->is_wrong |= at->task->tid != 100 || at->nr_path > 1;
	seen->nr_resumed++;
	seen->nr_starts += at->is_start;
	return 0;
}

#define NR_CALLS   70000
#define NR_THREADS 4

/* Add a task of two megabytes of calls, and two small tasks. */
static void add_tasks(void)
{
	struct strbuf bytes cleanup_strbuf = { 0 };

	recording_add_task(&rec, 100, "", 1000);
	for (unsigned i = 0; i < 2 * NR_CALLS; i++)
		recording_put(
			&rec, &bytes, 1000 + 10 * i,
			record_data(i % 2 ? RECORD_EXIT : RECORD_ENTRY, 0, recording_addr("b")));
	recording_add_file(&rec, "100.dat", bytes.data, bytes.len);
	recording_add_task(&rec, 101, "a{b{}}", 1000);
	recording_add_task(&rec, 102, "a{b{}}", 1000);
	recording_finish(&rec);
}

/* Run the view in threads. Returns the result of the pipeline. *@all becomes the sum of all. */
static int run_threads(size_t nr_threads, bool splits, int code, struct seen *all,
		       struct uft_err *err)
{
	struct seen seen[NR_THREADS] = { 0 };
	struct view views[NR_THREADS];
	struct trace_data data;
	struct pipeline pipe;
	int ret;

	*all = (struct seen){ 0 };
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(pipeline_open(&pipe, &data, &config, NULL), 0);
	assert_int_equal(pipeline_threads(&pipe, NR_THREADS), 3);
	for (size_t i = 0; i < nr_threads; i++) {
		seen[i].code = code;
		views[i] = (struct view){ .events = see,
					  .self = &seen[i],
					  .resume = splits ? resume : NULL };
	}
	ret = pipeline_run_parallel(&pipe, views, nr_threads, err);
	for (size_t i = 0; i < nr_threads; i++) {
		all->nr_entries += seen[i].nr_entries;
		all->nr_exits += seen[i].nr_exits;
		all->total_ns += seen[i].total_ns;
		all->nr_resumed += seen[i].nr_resumed;
		all->nr_starts += seen[i].nr_starts;
		assert_false(seen[i].is_wrong);
	}
	assert_false(merger_is_open(&pipe.feed));
	pipeline_close(&pipe);
	data_close(&data);
	return ret;
}

/* However many threads there are, and whether a large task is split or not, all events come once. */
TEST_WITH(threads_share_the_work, setup, teardown)
{
	add_tasks();
	for (size_t nr = 1; nr <= NR_THREADS; nr++) {
		for (unsigned splits = 0; splits < 2; splits++) {
			struct seen all;

			assert_int_equal(run_threads(nr, splits, 0, &all, NULL), 0);
			assert_int_equal(all.nr_entries, NR_CALLS + 4);
			assert_int_equal(all.nr_exits, NR_CALLS + 4);
			assert_int_equal(all.total_ns, 10 * NR_CALLS + 2 * (30 + 10));
			if (nr > 1 && splits) {
				assert_true(all.nr_resumed > 1);
				assert_int_equal(all.nr_starts, 1);
			} else {
				assert_int_equal(all.nr_resumed, 0);
			}
		}
	}
}

/* The error of a view ends all threads, and is the result. */
TEST_WITH(threads_that_fail, setup, teardown)
{
	add_tasks();
	for (size_t nr = 1; nr <= NR_THREADS; nr++) {
		for (unsigned splits = 0; splits < 2; splits++) {
			struct uft_err err = { 0 };
			struct seen all;

			assert_int_equal(run_threads(nr, splits, -ENOSPC, &all, &err), -ENOSPC);
			assert_int_equal(err.code, -ENOSPC);
			assert_string_equal(err.text, "no room on the screen");
			assert_int_equal(all.nr_entries, 0);
		}
	}
}
