/*
 * Tasks that have a lane, the beginning of the recording, and the part of the common sources that
 * is for lanes.
 */
#include "tests/unit/lib/unit.h"

#include <sys/resource.h>

#include "tests/unit/lib/read/kernel_page.h"
#include "tests/unit/lib/read/recording.h"
#include "utils/pipeline/stages/stg_filter.h"

static struct recording rec;
static struct pipeline_config config;
static struct trace_data data;
static struct pipeline pipe_;
static struct strbuf perf;

static int setup(void **state)
{
	perf = (struct strbuf){ 0 };
	recording_init(&rec);
	pipeline_config_init(&config);
	config.stages.wants = STAGE_WANTS_DEPTHS;
	return 0;
}

static int teardown(void **state)
{
	recording_deinit(&rec);
	strbuf_deinit(&perf);
	return 0;
}

static void begin(bool grows)
{
	recording_finish(&rec);
	if (perf.len)
		recording_add_file(&rec, "perf-cpu0.dat", perf.data, perf.len);
	if (grows) {
		assert_int_equal(data_open_growing(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
		assert_int_equal(data_read_more(&data, NULL), 0);
		assert_int_equal(data_grow(&data, NULL), 1);
		assert_int_equal(data_measure_files(&data, NULL), 0);
	} else {
		assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	}
	assert_int_equal(pipeline_open(&pipe_, &data, &config, NULL), 0);
}

static void end(void)
{
	pipeline_close(&pipe_);
	assert_null(pipe_.lanes);
	assert_null(pipe_.surveys);
	data_close(&data);
}

/* --- tasks with a lane --- */

/* Check "TID ..." of all lanes. */
static void check_lanes(const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };

	begin(false);
	for (size_t i = 0; i < pipe_.nr_lanes; i++)
		strbuf_addf(&out, "%s%d", i ? " " : "", pipe_.lanes[i].task->tid);
	assert_string_equal(strbuf_str(&out), expected);
	end();
}

TEST_WITH(tasks_with_records_have_lanes, setup, teardown)
{
	int tids[] = { 103, 101, 777 };

	recording_add_task(&rec, 101, "a{}", 1000);
	recording_add_task(&rec, 102, "", 1000);
	recording_add_task(&rec, 103, "a{}", 1000);
	perf_add_sched(&perf, 'o', 102, 1000);
	perf_add_sched(&perf, 'i', 102, 1010);
	perf_add_sched(&perf, 'o', 500, 1020);
	check_lanes("101 103");
	config.tids = tids;
	config.nr_tids = 3;
	check_lanes("101 103");
	config.nr_tids = 1;
	check_lanes("103");
	config.nr_tids = 0;
	/* If events outside of functions are shown, tasks without calls have lanes, too. */
	config.stages.show_outside = true;
	check_lanes("101 102 103 500");
	config.stages.show_events = false;
	check_lanes("101 103");
	config.stages.show_outside = false;
	config.stages.show_kernel_outside = true;
	check_lanes("101 103");
}

/*
 * Task 102 has no records, but three events in the feed. All, two or none of these are of calls of
 * the kernel. The task has a lane if it has events of a kind that is shown.
 */
TEST_WITH(tasks_without_records, setup, teardown)
{
	struct task *task;

	recording_add_task(&rec, 101, "a{}", 1000);
	recording_add_task(&rec, 102, "", 1000);
	begin(false);
	task = data_task(&data, 102);
	for (unsigned i = 0; i < 32; i++) {
		struct survey *survey = &pipe_.surveys[task->index];
		bool outside = i & 1;
		bool events = i & 2;
		bool kernel = i & 4;

		pipe_.config.stages.show_outside = outside;
		pipe_.config.stages.show_events = events;
		pipe_.config.stages.show_kernel_outside = kernel;
		survey->nr = 3;
		survey->nr_calls = i & 8 ? 3 : i & 16 ? 2 : 0;
		assert_int_equal(pipeline_has_lane(&pipe_, task),
				 (outside && events && survey->nr_calls < 3) ||
					 (kernel && survey->nr_calls));
		assert_true(pipeline_has_lane(&pipe_, data_task(&data, 101)));
	}
	end();
}

/* In a growing recording, a task gets a lane with its first event. */
TEST_WITH(tasks_of_a_recording_that_grows, setup, teardown)
{
	const struct task *task;

	recording_add_task(&rec, 101, "a{}", 1000);
	recording_add_task(&rec, 102, "", 1000);
	config.stages.show_outside = true;
	begin(true);
	task = data_task(&data, 102);
	assert_true(pipe_.feed.keeps_all);
	assert_true(pipe_.feed.queues[task->index].is_wanted);
	assert_false(pipeline_has_lane(&pipe_, task));
	assert_int_equal(queue_add(&pipe_.feed.queues[task->index], (struct queued){ 0 }), 0);
	assert_true(pipeline_has_lane(&pipe_, task));
	pipe_.config.stages.show_events = false;
	assert_false(pipeline_has_lane(&pipe_, task));
	pipe_.config.stages.show_kernel_outside = true;
	assert_true(pipeline_has_lane(&pipe_, task));
	end();
}

/* A child without a name of its own has its parent's. */
TEST_WITH(children_that_nobody_announced, setup, teardown)
{
	uint8_t bytes[48] = { 7, 0, 0, 0, 0, 0, 48 };

	recording_add_task(&rec, 100, "a{}", 1000);
	/* A PERF_RECORD_FORK: pid, ppid, tid, ptid, time, and a trailer. */
	bytes[8] = 200;
	bytes[12] = 100;
	bytes[16] = 200;
	bytes[20] = 100;
	bytes[24] = 220;
	bytes[25] = 5;
	bytes[32] = 200;
	bytes[36] = 200;
	bytes[40] = 220;
	bytes[41] = 5;
	strbuf_add(&perf, bytes, sizeof(bytes));
	config.stages.show_outside = true;
	begin(false);
	assert_int_equal(data.nr_tasks, 2);
	assert_string_equal(task_name_at(data_task(&data, 200), 1500), "prog");
	assert_int_equal(data_task(&data, 200)->nr_names, 1);
	assert_int_equal(data_task(&data, 200)->names[0].start_ns, 1500);
	end();
}

/* --- the beginning of the recording --- */

TEST_WITH(the_first_record_is_the_beginning, setup, teardown)
{
	recording_add_task(&rec, 101, "a{}", 3000);
	recording_add_task(&rec, 102, "a{}", 2000);
	recording_add_task(&rec, 103, "", 2000);
	begin(false);
	assert_int_equal(pipe_.first_ns, 2000);
	assert_int_equal(pipe_.start_ns, 0);
	assert_true(pipe_.stop_ns == UINT64_MAX);
	assert_int_equal(data_task(&data, 101)->first_ns, 3000);
	assert_int_equal(data_task(&data, 102)->first_ns, 2000);
	assert_true(data_task(&data, 103)->first_ns == UINT64_MAX);
	assert_null(pipe_.open_fds);
	end();
}

/*
 * The recording begins with the first complete time off the CPU. A return to the CPU before that
 * time does not count, since the beginning of its own time off the CPU was not recorded.
 */
TEST_WITH(times_off_the_cpu_may_come_first, setup, teardown)
{
	recording_add_task(&rec, 101, "a{}", 3000);
	perf_add_sched(&perf, 'i', 101, 1000);
	perf_add_sched(&perf, 'o', 101, 1500);
	perf_add_sched(&perf, 'i', 101, 2000);
	begin(false);
	assert_int_equal(pipe_.first_ns, 2000);
	end();
	/* Times of a range are counted from the first record. */
	config.range.start.is_set = true;
	config.range.start.is_elapsed = true;
	config.range.start.time_ns = 5;
	config.range.stop.is_set = true;
	config.range.stop.time_ns = 7000;
	begin(false);
	assert_int_equal(pipe_.first_ns, 3000);
	assert_int_equal(pipe_.start_ns, 3005);
	assert_int_equal(pipe_.stop_ns, 7000);
	assert_true(pipe_.config.stages.starts_inside);
	end();
	config.range.start.time_ns = UINT64_MAX - 2999;
	begin(false);
	assert_true(pipe_.start_ns == UINT64_MAX);
	end();
	config.range.start.time_ns = UINT64_MAX - 3000;
	config.range.stop.is_set = false;
	begin(false);
	assert_true(pipe_.start_ns == UINT64_MAX);
	assert_true(pipe_.stop_ns == UINT64_MAX);
	assert_int_equal(pipe_.first_ns, 3000);
	end();
}

TEST_WITH(losses_without_a_time_do_not_begin_a_recording, setup, teardown)
{
	recording_add_task(&rec, 101, "!", 3000);
	recording_add_task(&rec, 102, "!!a{}", 2000);
	begin(false);
	assert_int_equal(pipe_.first_ns, 2000);
	assert_int_equal(data_task(&data, 102)->first_ns, 2000);
	end();
}

TEST_WITH(a_recording_without_records_begins_with_its_events, setup, teardown)
{
	recording_add_task(&rec, 101, "", 3000);
	recording_add_task(&rec, 102, "", 3000);
	perf_add_sched(&perf, 'o', 102, 1400);
	perf_add_sched(&perf, 'o', 101, 1500);
	begin(false);
	assert_int_equal(pipe_.first_ns, 1400);
	end();
}

TEST_WITH(a_recording_of_losses_begins_with_its_events, setup, teardown)
{
	recording_add_task(&rec, 101, "!", 3000);
	recording_add_task(&rec, 102, "", 3000);
	perf_add_sched(&perf, 'o', 102, 1400);
	begin(false);
	assert_int_equal(pipe_.first_ns, 1400);
	end();
}

/* --- groups of tasks --- */

/*
 * As many tasks are loaded together as the memory limit allows. A task that is larger than the limit
 * is streamed.
 */
TEST_WITH(tasks_are_loaded_in_groups, setup, teardown)
{
	static const struct {
		uint64_t bytes[4];
		size_t first;
		size_t end;
		unsigned streams; /* one bit for each task */
	} rows[] = {
		{ { 10, 20, 70, 1 }, 0, 3, 0 },	      { { 10, 20, 71, 1 }, 0, 2, 0 },
		{ { 10, 20, 71, 1 }, 2, 4, 0 },	      { { 100, 1, 0, 0 }, 0, 1, 0 },
		{ { 101, 100, 0, 1 }, 0, 3, 1 },      { { 0, 0, 0, 0 }, 0, 4, 0 },
		{ { 101, 102, 103, 104 }, 1, 4, 14 },
	};

	config.order = PIPELINE_BY_TASK;
	for (int32_t tid = 101; tid < 105; tid++)
		recording_add_task(&rec, tid, "a{}", 1000);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool loads = false;

		begin(false);
		assert_int_equal(pipe_.nr_lanes, 4);
		pipe_.held_bytes = 100;
		for (size_t k = 0; k < 4; k++)
			pipe_.surveys[pipe_.lanes[k].task->index].bytes = rows[i].bytes[k];
		assert_int_equal(pipeline_load_group(&pipe_, rows[i].first, NULL), rows[i].end);
		for (size_t k = rows[i].first; k < rows[i].end; k++) {
			assert_int_equal(pipe_.lanes[k].streams, rows[i].streams >> k & 1);
			loads |= rows[i].bytes[k] && !pipe_.lanes[k].streams;
		}
		assert_int_equal(merger_is_open(&pipe_.feed), loads);
		for (size_t k = rows[i].first; loads && k < rows[i].end; k++) {
			assert_int_equal(pipe_.feed.queues[pipe_.lanes[k].task->index].is_wanted,
					 !pipe_.lanes[k].streams);
			assert_ptr_equal(pipe_.lanes[k].feed,
					 pipe_.lanes[k].streams ? NULL : &pipe_.feed);
		}
		if (loads && rows[i].end < 4)
			assert_false(
				pipe_.feed.queues[pipe_.lanes[rows[i].end].task->index].is_wanted);
		pipeline_drop_group(&pipe_, rows[i].first, rows[i].end);
		assert_false(merger_is_open(&pipe_.feed));
		assert_null(pipe_.lanes[rows[i].first].feed);
		end();
	}
}

/* --- the beginning of a lane --- */

static void begin_filtered(enum spec_option option, const char *specs, struct filters *filters)
{
	*filters = (struct filters){ 0 };
	assert_int_equal(filters_add(filters, option, MATCH_GLOB, specs, NULL), 0);
	assert_int_equal(filters_prepare(filters, NULL), 0);
	config.stages.filters = filters;
	begin(false);
}

/*
 * Check the flags of the lane. "h": it holds events back. "m": it drops the margin. "s": it starts
 * at the margin. "o": it drops events while off. "t": calls have their own thresholds.
 */
static void check_lane(const char *expected)
{
	const struct lane *lane = &pipe_.lanes[0];
	char flags[8];

	snprintf(flags, sizeof(flags), "%s%s%s%s%s", lane->holds_back ? "h" : "",
		 lane->indent.drops_margin ? "m" : "", lane->indent.starts_at_margin ? "s" : "",
		 lane->indent.drops_off ? "o" : "", lane->time.has_own_thresholds ? "t" : "");
	assert_string_equal(flags, expected);
	end();
}

TEST_WITH(lanes_begin_as_they_are_filtered, setup, teardown)
{
	struct filters filters;

	recording_add_task(&rec, 101, "a{}", 1000);
	begin(false);
	check_lane("");
	config.stages.time_filter_ns = 5;
	begin(false);
	check_lane("h");
	config.stages.wants = STAGE_WANTS_ENDS;
	begin(false);
	check_lane("");
	config.stages.wants = STAGE_WANTS_CALLS;
	config.stages.time_filter_ns = 0;
	config.stages.size_filter = 5;
	begin(false);
	check_lane("m");
	config.stages.show_outside = true;
	begin(false);
	check_lane("");
	config.stages.show_outside = false;
	begin_filtered(SPEC_FILTER, "a", &filters);
	check_lane("msot");
	filters_deinit(&filters);
	config.stages.size_filter = 0;
	begin_filtered(SPEC_CALLER, "a", &filters);
	check_lane("hsot");
	filters_deinit(&filters);
	begin_filtered(SPEC_TRIGGER, "a@time=5ns", &filters);
	check_lane("hot");
	filters_deinit(&filters);
	begin_filtered(SPEC_TRIGGER, "a@size=5", &filters);
	check_lane("mot");
	filters_deinit(&filters);
	begin_filtered(SPEC_TRIGGER, "a@trace", &filters);
	check_lane("ot");
	filters_deinit(&filters);
	config.stages.time_filter_ns = 5;
	begin_filtered(SPEC_TRIGGER, "a@trace", &filters);
	check_lane("hot");
	filters_deinit(&filters);
	/* A filter that does not change the output makes no filter stage. */
	begin_filtered(SPEC_TRIGGER, "a@color=red", &filters);
	check_lane("h");
	filters_deinit(&filters);
	begin_filtered(SPEC_TRIGGER, "nothing@trace", &filters);
	check_lane("h");
	filters_deinit(&filters);
	config.stages.time_filter_ns = 0;
	config.stages.filters = NULL;
	config.stages.size_filter = 5;
	config.stages.depth = 3;
	begin(false);
	assert_int_equal(pipe_.filter.base.size, 5);
	assert_int_equal(pipe_.filter.base.depth, 3);
	assert_int_equal(pipe_.config.stages.size_filter, 0);
	assert_int_equal(pipe_.config.stages.depth, UINT32_MAX);
	check_lane("mot");
}

/* Settings that the filter stage needs are left to it. No other stage applies them. */
TEST_WITH(what_filters_take_over, setup, teardown)
{
	struct filters filters;

	recording_add_task(&rec, 101, "a{}", 1000);
	config.stages.time_filter_ns = 5;
	config.stages.is_off = true;
	config.stages.show_libcalls = false;
	begin_filtered(SPEC_TRIGGER, "a@backtrace", &filters);
	assert_int_equal(pipe_.filter.base.threshold_ns, 5);
	assert_int_equal(pipe_.config.stages.time_filter_ns, 0);
	assert_true(pipe_.filter.starts_off);
	assert_false(pipe_.config.stages.is_off);
	assert_true(pipe_.filter.hides_libcalls);
	assert_true(pipe_.filter.counts_off);
	assert_false(pipe_.filter.ends_only);
	assert_true(pipe_.filter.wants_paths);
	assert_int_equal(pipe_.config.stages.sched, STAGE_SCHED_ALL);
	end();
	filters_deinit(&filters);
	config.stages.wants = STAGE_WANTS_ENDS;
	config.stages.show_libcalls = true;
	config.stages.is_off = false;
	begin_filtered(SPEC_CALLER, "a", &filters);
	assert_true(pipe_.filter.ends_only);
	assert_false(pipe_.filter.counts_off);
	assert_false(pipe_.filter.wants_paths);
	assert_false(pipe_.filter.hides_libcalls);
	assert_false(pipe_.filter.starts_off);
	assert_int_equal(pipe_.config.stages.sched, STAGE_SCHED_NONE);
	end();
	filters_deinit(&filters);
}

/* --- windows of time --- */

/* Add a call of the kernel within each of the calls of task 101 to 103, in ten pages. */
static void add_kernel_calls(void)
{
	static const char entry[] = "ID: 11\n\tfield:x func;\toffset:8;\tsize:8;\n"
				    "\tfield:x depth;\toffset:16;\tsize:4;\n";
	static const char leave[] = "ID: 12\n\tfield:x func;\toffset:8;\tsize:8;\n"
				    "\tfield:x depth;\toffset:16;\tsize:4;\n";
	static const uint32_t words[] = { 0x1000, 0xffffffff, 0 };
	struct kernel_layout layout = { KERNEL_PAGE_BYTES, 8, false };
	struct strbuf header cleanup_strbuf = { 0 };
	struct strbuf bytes cleanup_strbuf = { 0 };

	kernel_header_put_layout(&header, &layout);
	kernel_header_put_file(&header, "events/ftrace/funcgraph_entry/format", entry,
			       strlen(entry));
	kernel_header_put_file(&header, "events/ftrace/funcgraph_exit/format", leave,
			       strlen(leave));
	recording_add_file(&rec, "kernel_header", header.data, header.len);
	for (unsigned i = 0; i < 10; i++) {
		struct kernel_page_maker page;

		kernel_page_begin(&page, 1005 + 1010 * i, 8, false);
		for (int32_t pid = 101; pid < 104; pid++) {
			kernel_page_record(&page, 1, 11, pid, words, 3);
			kernel_page_record(&page, 1, 12, pid, words, 3);
		}
		kernel_page_end(&page, 0);
		strbuf_add(&bytes, page.bytes, sizeof(page.bytes));
	}
	recording_add_file(&rec, "kernel-cpu0.dat", bytes.data, bytes.len);
}

/* Collects the events of each task, "TIME{" and "TIME}", and the number of spans. */
struct by_task {
	struct strbuf texts[4];
	unsigned nr_spans;
	unsigned nr_changes; /* of the task */
	const struct task *last;
};

static int collect(void *self, const struct event_span *span, struct uft_err *err)
{
	struct by_task *out = self;

	out->nr_spans++;
	out->nr_changes += span->task != out->last;
	out->last = span->task;
	for (size_t i = 0; i < span->nr; i++)
		strbuf_addf(&out->texts[span->task->tid - 100], "%llu%c ",
			    (unsigned long long)span->events[i].time_ns,
			    span->events[i].type == EVENT_ENTRY ? '{' : '}');
	return 0;
}

/* Run the view, in windows if the events do not fit into @held_bytes. */
static void collect_all(bool in_parts, size_t held_bytes, size_t window_bytes, struct by_task *out)
{
	const struct view view = { .events = collect, .self = out, .in_parts = in_parts };

	*out = (struct by_task){ 0 };
	begin(false);
	assert_int_equal(pipe_.nr_lanes, 4);
	pipe_.held_bytes = held_bytes;
	pipe_.window_bytes = window_bytes;
	assert_int_equal(pipeline_run(&pipe_, &view, NULL), 0);
	/* Task 100 has no events of other sources, so it needs no windows. */
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pipe_.lanes[i].in_windows, in_parts && held_bytes == 100 && i > 0);
	assert_int_equal(pipe_.runs_windows, in_parts && held_bytes == 100);
	end();
}

static void free_texts(struct by_task *out)
{
	for (size_t i = 0; i < 4; i++)
		strbuf_deinit(&out->texts[i]);
}

/* Each task has the same events in the same order, in however many windows. */
TEST_WITH(tasks_in_windows_of_time, setup, teardown)
{
	static const size_t windows[] = { 1, 200, 1 << 20 };
	static const char tree[] = "a{ } a{ } a{ } a{ } a{ } a{ } a{ } a{ } a{ } a{ } ";
	struct by_task whole;
	struct by_task part;

	config.order = PIPELINE_BY_TASK;
	for (int32_t tid = 100; tid < 104; tid++)
		recording_add_task(&rec, tid, tree, 1000);
	add_kernel_calls();
	collect_all(true, 1 << 20, 1 << 20, &whole);
	assert_int_equal(whole.nr_changes, 4);
	for (size_t i = 0; i < ARRAY_SIZE(windows); i++) {
		collect_all(true, 100, windows[i], &part);
		for (size_t k = 0; k < 4; k++)
			assert_string_equal(strbuf_str(&part.texts[k]),
					    strbuf_str(&whole.texts[k]));
		if (windows[i] < 1 << 20)
			assert_true(part.nr_changes > 4);
		free_texts(&part);
	}
	/* A view that does not accept parts gets each task as a whole. */
	collect_all(false, 100, 1, &part);
	assert_int_equal(part.nr_changes, 4);
	for (size_t k = 0; k < 4; k++)
		assert_string_equal(strbuf_str(&part.texts[k]), strbuf_str(&whole.texts[k]));
	free_texts(&part);
	free_texts(&whole);
}

/* After a stop request, one more window ends all tasks. An error of the view ends all windows. */
TEST_WITH(windows_that_are_stopped, setup, teardown)
{
	struct by_task out = { 0 };
	const struct view view = { .events = collect, .self = &out, .in_parts = true };

	config.order = PIPELINE_BY_TASK;
	for (int32_t tid = 100; tid < 104; tid++)
		recording_add_task(&rec, tid, "a{ } a{ } a{ } a{ } a{ } a{ } ", 1000);
	add_kernel_calls();
	begin(false);
	pipe_.held_bytes = 100;
	pipe_.window_bytes = 1;
	atomic_store(&pipe_.is_stopped, true);
	assert_int_equal(pipeline_run_windows(&pipe_, &view, NULL), 0);
	assert_false(merger_is_open(&pipe_.feed));
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(pipe_.lanes[i].state, LANE_FINISHED);
	end();
	free_texts(&out);
}

/* --- lanes and the feed --- */

/* A lane takes the events of its task's queue, if the feed has one. */
TEST_WITH(lanes_that_are_attached, setup, teardown)
{
	/* The first task of the recording is the process, which has no records. */
	struct queue queues[3] = { [1] = { .nr = 7 }, [2] = { .nr = 9 } };
	struct merger feed = { .queues = queues, .nr_queues = 2 };
	struct merger other = { .queues = queues, .nr_queues = 3 };
	struct lane *lane;

	recording_add_task(&rec, 101, "a{}", 1000);
	recording_add_task(&rec, 102, "a{}", 1000);
	begin(false);
	for (unsigned nr_calls = 0; nr_calls < 2; nr_calls++) {
		lane = &pipe_.lanes[0];
		pipe_.surveys[lane->task->index].nr_calls = nr_calls;
		lane_attach(lane, &feed);
		assert_ptr_equal(lane->feed, &feed);
		assert_int_equal(lane->nr_others, 1);
		assert_int_equal(lane->has_kernel_calls, nr_calls);
		assert_int_equal(lane->calls.has_kernel, nr_calls);
		assert_ptr_equal(lane->others[0],
				 nr_calls ? &lane->kernel.source : &lane->queued.source);
		assert_ptr_equal(lane->queued.queue, &queues[1]);
		assert_ptr_equal(lane->queued.source.task, lane->task);
		assert_int_equal(lane->queued.at, 0);
		assert_int_equal(lane->queued.end, 7);
		/* The lane keeps its place in the queue if the feed moves or gets more events. */
		lane->queued.at = 3;
		queues[1].nr = 8;
		lane_attach(lane, &feed);
		assert_int_equal(lane->queued.at, 3);
		assert_int_equal(lane->queued.end, 8);
		lane_attach(lane, &other);
		assert_int_equal(lane->queued.at, 0);
		lane->queued.at = 3;
		lane_attach(lane, NULL);
		assert_null(lane->feed);
		assert_int_equal(lane->nr_others, 0);
		assert_int_equal(lane->queued.at, 0);
		assert_int_equal(lane->queued.end, 0);
		queues[1].nr = 7;
	}
	/* The feed has no queue for the second task yet. */
	lane = &pipe_.lanes[1];
	lane_attach(lane, &feed);
	assert_int_equal(lane->nr_others, 0);
	assert_null(lane->queued.queue);
	lane_attach(lane, &other);
	assert_int_equal(lane->nr_others, 1);
	assert_ptr_equal(lane->queued.queue, &queues[2]);
	lane_attach(lane, NULL);
	end();
}

/* Events are known up to the limit of the pipeline, and up to that of the feed. */
TEST(limits_of_lanes)
{
	static const uint64_t complete[] = { 50, 100, 150 };
	struct pipeline pipe = { .limit_ns = 100 };
	struct merger feed = { 0 };
	struct lane lane = { .pipe = &pipe };

	pipe.feed.complete_ns = 50;
	assert_int_equal(pipeline_limit_ns(&pipe), 100);
	assert_int_equal(lane_limit_ns(&lane), 100);
	pipe.feed.next = (uint64_t[1]){ 0 };
	lane.feed = &feed;
	for (size_t i = 0; i < ARRAY_SIZE(complete); i++) {
		pipe.feed.complete_ns = feed.complete_ns = complete[i];
		assert_int_equal(pipeline_limit_ns(&pipe), MIN(complete[i], (uint64_t)100));
		assert_int_equal(lane_limit_ns(&lane), MIN(complete[i], (uint64_t)100));
	}
}

/* Files stay open if there are descriptors for all tasks and sources, and for other purposes. */
TEST(descriptors_of_all_files)
{
	static const struct {
		size_t nr_tasks, nr_sources, limit;
		bool keeps_open;
	} rows[] = {
		{ 36, 0, 100, true },  { 37, 0, 100, false }, { 30, 6, 100, true },
		{ 30, 7, 100, false }, { 0, 36, 100, true },  { 0, 37, 100, false },
	};
	struct rlimit before;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct pipeline pipe = { .nr_sources = rows[i].nr_sources };
		struct rlimit limit = before;
		struct src_user_plan plan;

		limit.rlim_cur = rows[i].limit;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		plan = pipeline_plan(&pipe, rows[i].nr_tasks);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		assert_int_equal(plan.keeps_open, rows[i].keeps_open);
		assert_int_equal(plan.buffer_bytes, SRC_USER_MAX_BUFFER);
	}
}
