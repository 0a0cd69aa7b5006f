/* Sources of all tasks: whatever windows and groups their events come in, each task gets its own, in order. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <sys/stat.h>

#include "tests/unit/lib/recording.h"
#include "utils/trace/src_extern.h"
#include "utils/trace/src_perf.h"

#define WINDOW_BYTES (100 * sizeof(struct queued))
#define HELD_BYTES   (1000 * sizeof(struct queued))

#define NR_TASKS 3
#define NR_CPUS	 2
#define STEP_NS	 2000

static struct recording rec;
static struct pipeline_config config;
static struct pipeline pipe_;

/* What a view has seen: @nr events of the scheduler of each task, @last_ns of all, or of the task. */
struct seen {
	size_t nr[NR_TASKS];
	size_t nr_calls;
	uint64_t last_ns;
	const struct task *task;
	uint8_t last_type[NR_TASKS];
	size_t nr_backwards;
	size_t nr_changes;
	bool is_alone;
};

/* Tasks leave their CPU in turns, and come back on another one. The first event of a file is late now and then. */
static void add_perf_files(size_t nr_events)
{
	for (size_t cpu = 0; cpu < NR_CPUS; cpu++) {
		struct strbuf perf cleanup_strbuf = { 0 };
		char name[32];

		for (size_t i = 0; i < nr_events / 2; i++) {
			uint64_t time_ns = 10000 + i * STEP_NS;
			int32_t tid = 100 + i % NR_TASKS;

			if (i % 100 == 50 && cpu == 0)
				perf_add_sched(&perf, 'i', tid, time_ns + 1000);
			if ((i & 1) == cpu)
				perf_add_sched(&perf, 'o', tid, time_ns);
			else if (i % 100 != 50)
				perf_add_sched(&perf, 'i', tid, time_ns + 1000);
			else if (cpu == 1)
				continue;
		}
		snprintf(name, sizeof(name), "perf-cpu%zu.dat", cpu);
		recording_add_file(&rec, name, perf.data, perf.len);
	}
}

static void begin(size_t nr_events)
{
	pipeline_config_init(&config);
	config.stages.show_outside = true;
	recording_init(&rec);
	for (int32_t tid = 100; tid < 100 + NR_TASKS; tid++)
		recording_add_task(&rec, tid, "a{b{}   }", 1000);
	recording_finish(&rec);
	add_perf_files(nr_events);
}

/* What waits is bounded: by time by the window and what is too late for it, by task by what may be held and by the window of the lane. */
static void check_held(void)
{
	size_t most = config.order == PIPELINE_BY_TIME ? 3 * WINDOW_BYTES : HELD_BYTES;
	size_t bytes = 0;

	for (size_t i = 0; i < pipe_.feed.nr_queues; i++)
		bytes += pipe_.feed.queues[i].nr * sizeof(struct queued);
	assert_true(bytes <= most);
	for (size_t i = 0; i < pipe_.nr_lanes; i++) {
		const struct feed *own = pipe_.lanes[i].own_feed;

		if (own && pipe_.lanes[i].task->index == i)
			assert_true(own->queues[i].nr * sizeof(struct queued) <= 3 * WINDOW_BYTES);
	}
}

static int see(void *self, const struct event_span *span, struct uft_err *err)
{
	struct seen *seen = self;
	size_t index = span->task->index;

	if (span->task != seen->task) {
		seen->nr_changes++;
		if (config.order == PIPELINE_BY_TASK)
			seen->last_ns = 0;
	}
	seen->task = span->task;
	if (seen->is_alone)
		check_held();
	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];

		seen->nr_backwards += event->time_ns < seen->last_ns;
		seen->last_ns = event->time_ns;
		seen->nr_calls += event->type <= EVENT_EXIT;
		if (event->type <= EVENT_EXIT)
			continue;
		assert_int_not_equal(event->type, seen->last_type[index]);
		seen->last_type[index] = event->type;
		seen->nr[index]++;
	}
	return 0;
}

static void check(size_t nr_events, enum pipeline_order order, size_t nr_threads)
{
	struct trace_data data;
	struct seen seen[8] = { 0 };
	struct view views[8];
	struct seen all = { 0 };

	config.order = order;
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(pipeline_open(&pipe_, &data, &config, NULL), 0);
	pipe_.window_bytes = WINDOW_BYTES;
	pipe_.held_bytes = HELD_BYTES;
	/* Others change what they hold meanwhile. */
	seen[0].is_alone = nr_threads == 1;
	for (size_t i = 0; i < nr_threads; i++)
		views[i] = (struct view){ .events = see, .self = &seen[i] };
	assert_int_equal(pipeline_run_parallel(&pipe_, views, nr_threads, NULL), 0);
	for (size_t i = 0; i < nr_threads; i++) {
		assert_int_equal(seen[i].nr_backwards, 0);
		all.nr_calls += seen[i].nr_calls;
		all.nr_changes += seen[i].nr_changes;
		for (size_t k = 0; k < NR_TASKS; k++)
			all.nr[k] += seen[i].nr[k];
	}
	assert_int_equal(all.nr_calls, NR_TASKS * 4);
	assert_int_equal(all.nr[0] + all.nr[1] + all.nr[2], nr_events / 2 * 2);
	if (order == PIPELINE_BY_TASK)
		assert_int_equal(all.nr_changes, NR_TASKS);
	assert_int_equal(pipe_.broken.code, 0);
	pipeline_close(&pipe_);
	data_close(&data);
}

static void check_all(size_t nr_events)
{
	begin(nr_events);
	check(nr_events, PIPELINE_BY_TIME, 1);
	check(nr_events, PIPELINE_BY_TASK, 1);
	check(nr_events, PIPELINE_BY_TASK, 3);
	recording_deinit(&rec);
}

/* All can be held. */
static void windows(void **state)
{
	check_all(900);
}

/* No two tasks can be held together. */
static void groups(void **state)
{
	check_all(2400);
}

/* Each task has more than may be held: it streams. */
static void streams(void **state)
{
	check_all(20000);
}

/* What stands there for a CPU and cannot be read is told: a recording without its events looks complete. */
static void files_that_cannot_be_read(void **state)
{
	struct trace_data data;
	struct uft_err err = { 0 };
	char path[128];

	begin(100);
	snprintf(path, sizeof(path), "%s/perf-cpu7.dat", rec.dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(pipeline_open(&pipe_, &data, &config, &err), -EISDIR);
	assert_non_null(strstr(err.text, "perf-cpu7.dat"));
	data_close(&data);
	assert_int_equal(rmdir(path), 0);
	recording_deinit(&rec);
}

/* However little room there is, a source writes no more than that, and nothing is lost. */
static void little_room(void **state)
{
	for (size_t max = 1; max < 4; max++) {
		struct strbuf perf cleanup_strbuf = { 0 };
		struct source_list list = { 0 };
		struct event events[5];
		struct trace_data data;
		ssize_t nr;
		size_t all = 0;

		pipeline_config_init(&config);
		recording_init(&rec);
		recording_add_task(&rec, 100, "a{ }", 1000);
		recording_finish(&rec);
		for (size_t i = 0; i < 10; i++)
			perf_add_sched(&perf, i & 1 ? 'i' : 'o', 100, 1010 + i);
		recording_add_file(&rec, "perf-cpu0.dat", perf.data, perf.len);
		assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
		assert_int_equal(
			src_perf_kind.open(&(struct source_context){ .data = &data }, &list, NULL),
			0);
		assert_int_equal(list.nr, 1);
		do {
			memset(events, 0x5a, sizeof(events));
			nr = source_read(list.all[0], events, max, UINT64_MAX, NULL);
			assert_true(nr >= 0 && nr <= (ssize_t)max);
			for (size_t i = 0; i < (size_t)nr; i++)
				assert_int_equal(events[i].time_ns, 1010 + all++);
			assert_int_equal(events[max].time_ns, 0x5a5a5a5a5a5a5a5aULL);
		} while (nr > 0);
		assert_int_equal(all, 10);
		source_close(list.all[0]);
		free(list.all);
		data_close(&data);
		recording_deinit(&rec);
	}
}

/* Tasks with events and no calls: of one task.txt tells, and of the other only the kernel. Outside of functions is where all of it is. */
static void without_calls(void **state)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct strbuf perf cleanup_strbuf = { 0 };

	pipeline_config_init(&config);
	recording_init(&rec);
	recording_add_task(&rec, 100, "a{ }", 1000);
	recording_add_task(&rec, 102, "", 0);
	recording_finish(&rec);
	perf_add_sched(&perf, 'o', 102, 500);
	perf_add_sched(&perf, 'i', 102, 1500);
	perf_add_sched(&perf, 'o', 101, 1600);
	perf_add_sched(&perf, 'o', 103, 1700);
	perf_add_sched(&perf, 'i', 101, 9000);
	recording_add_file(&rec, "perf-cpu0.dat", perf.data, perf.len);
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "100:a{}");

	strbuf_reset(&out);
	config.stages.show_outside = true;
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "102:~ 100:a{ 102:^ 101:~ 103:~ 100:} 101:^");
	strbuf_reset(&out);
	config.order = PIPELINE_BY_TASK;
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "100:a{} 101:~^ 102:~^ 103:~");
	recording_deinit(&rec);

	/* Without any calls, and without any session. */
	strbuf_reset(&out);
	config.order = PIPELINE_BY_TIME;
	recording_init(&rec);
	strbuf_reset(&rec.task_txt);
	recording_finish(&rec);
	recording_add_file(&rec, "perf-cpu0.dat", perf.data, perf.len);
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "102:~^ 101:~ 103:~ 101:^");
	recording_deinit(&rec);
}

/* Few lines of extern.dat may stand in any order; of more, those that are near each other. A line may be of any length. */
static void external_lines(void **state)
{
	struct trace_data data = { 0 };
	struct strbuf text cleanup_strbuf = { 0 };
	struct source *src;
	struct event event;
	uint64_t last_ns = 0;
	size_t nr = 0;

	recording_init(&rec);
	data.dir = rec.dir;
	for (size_t i = 0; i < 3 * EXTERN_HELD_MAX; i++)
		strbuf_addf(&text, "1.%09zu line\n", (i ^ 1023) * 1000);
	strbuf_addstr(&text, "2.000000000 ");
	strbuf_addchars(&text, 'x', 200000);
	strbuf_addstr(&text, "\n3.000000000 last");
	recording_add_file(&rec, "extern.dat", text.data, text.len);
	assert_int_equal(src_extern_open(&data, &src, NULL), 0);
	assert_int_equal(source_read(src, &event, 1, 5, NULL), 0);
	while (source_next_ns(src) != UINT64_MAX) {
		assert_int_equal(source_next_ns(src) > last_ns, true);
		last_ns = source_next_ns(src);
		assert_int_equal(source_read(src, &event, 1, UINT64_MAX, NULL), 1);
		assert_int_equal(event.time_ns, last_ns);
		assert_int_equal(event.data_len, last_ns == 2000000000 ? 1023 : 4);
		nr++;
	}
	assert_int_equal(nr, 3 * EXTERN_HELD_MAX + 2);
	source_close(src);

	/* What cannot be read is told when the lines before it were shown. */
	strbuf_addstr(&text, "\nno time\n");
	recording_add_file(&rec, "extern.dat", text.data, text.len);
	assert_int_equal(src_extern_open(&data, &src, NULL), 0);
	while (source_read(src, &event, 1, UINT64_MAX, NULL) == 1)
		nr--;
	assert_int_equal(nr, 0);
	assert_int_equal(source_read(src, &event, 1, UINT64_MAX, NULL), -EINVAL);
	source_close(src);
	recording_deinit(&rec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows),	  cmocka_unit_test(groups),
		cmocka_unit_test(streams),	  cmocka_unit_test(without_calls),
		cmocka_unit_test(little_room),	  cmocka_unit_test(files_that_cannot_be_read),
		cmocka_unit_test(external_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
