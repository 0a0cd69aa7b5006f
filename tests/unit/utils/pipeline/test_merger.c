/*
 * Sources of all tasks: each task gets its own events, in order, whatever the windows and groups.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <sys/stat.h>

#include "tests/unit/lib/read/recording.h"
#include "utils/pipeline/sources/src_perf.h"

#define WINDOW_BYTES (100 * sizeof(struct queued))
#define HELD_BYTES   (1000 * sizeof(struct queued))

#define NR_TASKS 3
#define NR_CPUS	 2
#define STEP_NS	 2000

static struct recording rec;
static struct pipeline_config config;
static struct pipeline pipe_;

/*
 * The events that a view has seen.
 *
 * @nr: the number of events of the scheduler, by task
 * @last_ns: the time of the last event. With PIPELINE_BY_TASK: of the present task; 0: none yet
 */
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

/*
 * Tasks leave their CPU in turns, and come back on another one. On CPU 0 some events are written
 * after an event with a later time.
 */
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

/*
 * Check that few events wait. By time, the window and late events are the bound. By task, the bound
 * is the memory limit and the window of the lane.
 */
static void check_held(void)
{
	size_t most = config.order == PIPELINE_BY_TIME ? 3 * WINDOW_BYTES : HELD_BYTES;
	size_t bytes = 0;

	for (size_t i = 0; i < pipe_.feed.nr_queues; i++)
		bytes += pipe_.feed.queues[i].nr * sizeof(struct queued);
	assert_true(bytes <= most);
	for (size_t i = 0; i < pipe_.nr_lanes; i++) {
		const struct merger *own = pipe_.lanes[i].own_feed;

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
	/* With several threads, other lanes change what they hold in the meantime. */
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

/* The memory has room for all tasks. */
TEST(windows)
{
	check_all(900);
}

/* The memory has no room for two tasks together. */
TEST(groups)
{
	check_all(2400);
}

/* Each task is larger than the memory, so its events are streamed. */
TEST(streams)
{
	check_all(20000);
}

/*
 * If the file of a CPU cannot be read, that is an error: otherwise the recording would look
 * complete although the file's events are missing.
 */
TEST(files_that_cannot_be_read)
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

/* A source writes no more events than there is room for, and loses none. */
TEST(little_room)
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

/*
 * Tasks with events but without calls. One is in task.txt, the other one is known only to the
 * kernel. All their events are outside of functions.
 */
TEST(without_calls)
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

	/* The recording has no calls, and no session. */
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

/* --- simulated sources --- */

#define MADE_MAX 3

struct made_event {
	uint64_t time_ns;
	int32_t tid;
	uint8_t type;
	uint64_t id;
	const char *text; /* the payload */
};

/* @code: the result of read() after the last event */
static struct made {
	const struct made_event *events;
	size_t nr;
	int code;
} made[MADE_MAX];
static size_t nr_made;

struct made_source {
	struct source source;
	const struct trace_data *data;
	const struct made *made;
	size_t at;
	bool is_told;
};

static uint64_t made_next_ns(struct source *source)
{
	const struct made_source *src = (const struct made_source *)source;

	if (src->at < src->made->nr)
		return src->made->events[src->at].time_ns;
	return src->made->code && !src->is_told ? 0 : UINT64_MAX;
}

static ssize_t made_read(struct source *source, struct event *events, size_t max, uint64_t until_ns,
			 struct uft_err *err)
{
	struct made_source *src = (struct made_source *)source;
	const struct made_event *first = &src->made->events[src->at];
	size_t nr = 0;

	if (src->at == src->made->nr) {
		src->is_told = true;
		return err_set(err, src->made->code, "made up");
	}
	source->tid = first->tid;
	source->task = data_task(src->data, first->tid);
	for (; nr < max && src->at < src->made->nr; src->at++) {
		const struct made_event *it = &src->made->events[src->at];

		if (it->tid != first->tid || it->time_ns > until_ns)
			break;
		events[nr++] = (struct event){ .time_ns = it->time_ns,
					       .type = it->type,
					       .id = it->id,
					       .data = (const uint8_t *)it->text,
					       .data_len = it->text ? strlen(it->text) : 0 };
	}
	return nr;
}

static void made_close(struct source *source)
{
	free(source);
}

static int made_open(const struct source_context *context, struct source_list *list,
		     struct uft_err *err)
{
	static const struct source_ops ops = { made_next_ns, made_read, NULL, made_close };

	for (size_t i = 0; i < nr_made; i++) {
		struct made_source *src = calloc(1, sizeof(*src));

		*src = (struct made_source){ { .ops = &ops }, context->data, &made[i] };
		assert_int_equal(source_list_add(list, &src->source), 0);
	}
	return 0;
}

struct made_feed {
	struct trace_data data;
	struct merger feed;
	struct uft_err broken;
};

/* Begin with tasks 100 and 101, and the sources in @made. */
static void made_begin(struct made_feed *f)
{
	static const struct source_kind kind = { .name = "made", .open = made_open };
	const struct source_kind *const kinds[] = { &kind, NULL };

	*f = (struct made_feed){ 0 };
	recording_init(&rec);
	recording_add_task(&rec, 100, "a{}", 1000);
	recording_add_task(&rec, 101, "a{}", 1000);
	recording_finish(&rec);
	assert_int_equal(data_open(&f->data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);

	const struct source_context context = { .data = &f->data, .broken = &f->broken };

	assert_int_equal(merger_open(&f->feed, &context, kinds, NULL), 0);
	assert_true(merger_is_open(&f->feed));
	assert_int_equal(f->feed.nr_queues, 2);
	assert_false(f->feed.queues[0].is_wanted);
}

static void made_end(struct made_feed *f)
{
	merger_close(&f->feed);
	assert_false(merger_is_open(&f->feed));
	data_close(&f->data);
	recording_deinit(&rec);
	nr_made = 0;
	memset(made, 0, sizeof(made));
}

static void check_queue(const struct queue *queue, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	for (size_t i = 0; i < queue->nr; i++)
		strbuf_addf(&out, "%llu/%u%s%.*s ", (unsigned long long)queue->events[i].time_ns,
			    queue->events[i].source, queue->events[i].data ? ":" : "",
			    queue->events[i].data ? queue->events[i].data_len : 0,
			    (const char *)queue->events[i].data);
	assert_string_equal(strbuf_str(&out), expected);
}

TEST(events_of_all_sources_come_to_their_tasks)
{
	static const struct made_event one[] = { { 10, 100, EVENT_POINT, 7, "x" },
						 { 20, 100, EVENT_POINT, 7 },
						 { 30, 101, EVENT_POINT, 7, "" } };
	static const struct made_event two[] = { { 10, 100, EVENT_POINT, 7, "yz" },
						 { 15, 101, EVENT_POINT, 7 },
						 { 40, 100, EVENT_POINT, 7 },
						 { 50, 999, EVENT_POINT, 7 } };
	struct made_feed f;

	made[0] = (struct made){ one, ARRAY_SIZE(one), 0 };
	made[1] = (struct made){ two, ARRAY_SIZE(two), 0 };
	nr_made = 2;
	made_begin(&f);
	f.feed.queues[0].is_wanted = f.feed.queues[1].is_wanted = true;
	assert_int_equal(merger_fill(&f.feed, SIZE_MAX, NULL), 0);
	check_queue(&f.feed.queues[0], "10/0:x 10/1:yz 20/0 40/1 ");
	check_queue(&f.feed.queues[1], "15/1 30/0: ");
	assert_true(f.feed.complete_ns == UINT64_MAX);
	assert_int_equal(merger_fill(&f.feed, SIZE_MAX, NULL), 0);
	made_end(&f);
	/* Events of tasks that are not wanted are not kept. */
	made[0] = (struct made){ one, ARRAY_SIZE(one), 0 };
	nr_made = 1;
	made_begin(&f);
	f.feed.queues[1].is_wanted = true;
	assert_int_equal(merger_fill(&f.feed, SIZE_MAX, NULL), 0);
	check_queue(&f.feed.queues[0], "");
	check_queue(&f.feed.queues[1], "30/0: ");
	made_end(&f);
}

/* The sources are read in parts. Events later than @complete_ns may still come. */
TEST(a_part_at_a_time)
{
	static const struct made_event one[] = { { 1000, 100, EVENT_POINT, 7 },
						 { 1100, 101, EVENT_POINT, 7 },
						 { 9000000, 100, EVENT_POINT, 7 } };
	static const struct made_event two[] = { { 1050, 100, EVENT_POINT, 7 },
						 { 1150, 100, EVENT_POINT, 7 } };
	struct made_feed f;

	made[0] = (struct made){ one, ARRAY_SIZE(one), 0 };
	made[1] = (struct made){ two, ARRAY_SIZE(two), 0 };
	nr_made = 2;
	made_begin(&f);
	f.feed.queues[0].is_wanted = f.feed.queues[1].is_wanted = true;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(merger_fill(&f.feed, 1, NULL), 1);
		assert_int_equal(f.feed.queues[0].nr + f.feed.queues[1].nr, i + 1);
		/* The time up to which all is complete never goes back. */
		assert_true(f.feed.complete_ns <= f.feed.last_ns);
	}
	assert_int_equal(merger_fill(&f.feed, 1, NULL), 1);
	assert_int_equal(f.feed.complete_ns, 9000000 - MERGER_LATE_NS);
	assert_int_equal(merger_fill(&f.feed, 1, NULL), 0);
	made_end(&f);
}

TEST(without_sources_all_is_complete)
{
	struct made_feed f;

	made_begin(&f);
	assert_true(f.feed.complete_ns == UINT64_MAX);
	assert_int_equal(merger_fill(&f.feed, 1, NULL), 0);
	made_end(&f);
}

/*
 * Damage in a source is reported, and the other sources are read on. Any other error ends reading.
 */
TEST(sources_that_fail)
{
	static const struct made_event one[] = { { 10, 100, EVENT_POINT, 7 } };
	static const struct made_event two[] = { { 20, 100, EVENT_POINT, 7 } };
	struct uft_err err = { 0 };
	struct made_feed f;

	made[0] = (struct made){ one, 1, -EBADMSG };
	made[1] = (struct made){ two, 1, 0 };
	nr_made = 2;
	made_begin(&f);
	f.feed.queues[0].is_wanted = true;
	assert_int_equal(merger_fill(&f.feed, SIZE_MAX, &err), 0);
	check_queue(&f.feed.queues[0], "10/0 20/1 ");
	assert_int_equal(f.broken.code, -EBADMSG);
	assert_string_equal(f.broken.text, "made up");
	assert_int_equal(err.code, 0);
	made_end(&f);
	made[0] = (struct made){ one, 1, -EIO };
	nr_made = 1;
	made_begin(&f);
	assert_int_equal(merger_fill(&f.feed, SIZE_MAX, &err), -EIO);
	assert_string_equal(err.text, "made up");
	made_end(&f);
}

TEST(what_there_is_of_each_task)
{
	static const struct made_event one[] = {
		{ 10, 100, EVENT_SCHED_IN },
		{ 20, 100, EVENT_SCHED_OUT },
		{ 25, 100, EVENT_POINT, 7, "abc" },
		{ 26, 100, EVENT_ENTRY },
		{ 27, 100, EVENT_LOST },
		{ 30, 100, EVENT_SCHED_IN },
		{ 40, 100, EVENT_POINT, EVENT_ID_TASK_NAME },
		{ 50, 100, EVENT_POINT, EVENT_ID_TASK_NEW },
		{ 55, 101, EVENT_POINT, EVENT_ID_TASK_EXIT },
		{ 60, 101, EVENT_SCHED_OUT },
		/* The task has another event, so it is on the CPU, and SCHED_IN is no return. */
		{ 61, 101, EVENT_POINT, EVENT_ID_TASK_EXIT },
		{ 62, 101, EVENT_SCHED_IN },
		{ 70, 101, EVENT_EXIT },
		{ 71, 101, EVENT_ENTRY },
	};
	struct survey surveys[2];
	struct made_feed f;

	made[0] = (struct made){ one, ARRAY_SIZE(one), 0 };
	nr_made = 1;
	made_begin(&f);
	assert_int_equal(merger_survey(&f.feed, surveys, NULL), 0);
	assert_int_equal(surveys[0].nr, 8);
	assert_int_equal(surveys[0].nr_calls, 1);
	assert_true(surveys[0].bytes > 8 * sizeof(struct queued) + 3);
	assert_true(surveys[0].bytes < 10 * sizeof(struct queued));
	assert_int_equal(surveys[0].first_ns, 10);
	assert_int_equal(surveys[0].first_call_ns, 26);
	assert_int_equal(surveys[0].first_sign_ns, 40);
	assert_int_equal(surveys[0].first_back_ns, 30);
	assert_false(surveys[0].is_out);
	assert_int_equal(surveys[1].nr, 6);
	assert_int_equal(surveys[1].nr_calls, 2);
	assert_int_equal(surveys[1].bytes, 6 * sizeof(struct queued));
	assert_int_equal(surveys[1].first_ns, 55);
	assert_int_equal(surveys[1].first_call_ns, 70);
	assert_true(surveys[1].first_sign_ns == UINT64_MAX);
	assert_true(surveys[1].first_back_ns == UINT64_MAX);
	check_queue(&f.feed.queues[0], "");
	made_end(&f);
}
