/*
 * A recording that grows: in whatever steps its files grow, the events are those of the whole
 * recording.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/lib/read/kernel_page.h"
#include "tests/unit/lib/read/recording.h"
#include "utils/base/fd.h"

#define NR_FILES 5

/* A file with its whole content, of which a part is in the directory. */
struct file {
	char path[PATH_MAX];
	struct strbuf text;
	size_t written;
};

static struct recording rec;
static struct file files[NR_FILES];
static struct trace_data data;
static struct pipeline pipe_;
static struct pipeline_config config;
static struct strbuf out;
static struct recording_writer writer;

static int setup(void **state)
{
	pipeline_config_init(&config);
	config.stages.wants = STAGE_WANTS_DEPTHS;
	recording_init(&rec);
	strbuf_reset(&out);
	writer = (struct recording_writer){ .out = &out };
	return 0;
}

static int teardown(void **state)
{
	pipeline_close(&pipe_);
	data_close(&data);
	recording_deinit(&rec);
	for (size_t i = 0; i < NR_FILES; i++) {
		strbuf_deinit(&files[i].text);
		files[i] = (struct file){ 0 };
	}
	strbuf_deinit(&out);
	return 0;
}

/* Take the content of the file away, so that it can come back piece by piece. */
static void withdraw(struct file *file, const char *name)
{
	snprintf(file->path, sizeof(file->path), "%s/%s", rec.dir, name);
	assert_int_equal(file_read_all(file->path, 1 << 20, &file->text, NULL), 0);
	assert_int_equal(truncate(file->path, 0), 0);
	file->written = 0;
}

static void bring(struct file *file, size_t until)
{
	int fd = open(file->path, O_WRONLY | O_APPEND);

	until = MIN(until, file->text.len);
	assert_true(fd >= 0);
	if (until > file->written)
		assert_int_equal(
			fd_write_all(fd, file->text.data + file->written, until - file->written),
			0);
	file->written = MAX(file->written, until);
	close(fd);
}

/* Write the records up to @time_ns, and half of the next one. */
static void bring_records(struct file *file, uint64_t time_ns)
{
	size_t end = 0;

	for (size_t at = 0; at + 16 <= file->text.len; at += 16) {
		uint64_t stamp;

		memcpy(&stamp, file->text.data + at, sizeof(stamp));
		if (stamp > time_ns)
			break;
		end = at + 16;
	}
	bring(file, end + 8);
}

static void look(void)
{
	struct uft_err err = { 0 };

	assert_int_equal(data_read_more(&data, &err), 0);
	assert_true(data_grow(&data, &err) >= 0);
	assert_int_equal(data_measure_files(&data, NULL), 0);
}

static void follow(uint64_t until_ns)
{
	struct view view = { recording_write, &writer };
	struct uft_err err = { 0 };

	look();
	assert_int_equal(pipeline_follow(&pipe_, until_ns, &view, &err), 0);
}

static void open_growing(void)
{
	struct uft_err err = { 0 };

	assert_int_equal(data_open_growing(&data, rec.dir, DEMANGLE_SIMPLE, &err), 0);
	look();
	assert_int_equal(pipeline_open(&pipe_, &data, &config, &err), 0);
}

#define KERNEL_PAGES 3

/* Add tracepoints of all tasks and of an unknown one, with a page for each part of the time. */
static void add_kernel_files(void)
{
	static const char header[] = "PAGE_SIZE: 4096\nLONG_SIZE: 8\nENDIAN: LE\n";
	static const uint64_t starts[KERNEL_PAGES] = { 1003, 1040, 1500 };
	struct kernel_page_maker pages[KERNEL_PAGES];
	struct strbuf content cleanup_strbuf = { 0 };

	for (size_t i = 0; i < KERNEL_PAGES; i++) {
		kernel_page_begin(&pages[i], starts[i], 8, false);
		for (int32_t pid = 100; pid < 104; pid++)
			kernel_page_record(&pages[i], 6, 7, pid, NULL, 0);
		kernel_page_end(&pages[i], 0);
		strbuf_add(&content, pages[i].bytes, KERNEL_PAGE_BYTES);
	}
	recording_add_file(&rec, "kernel_header", header, sizeof(header) - 1);
	recording_add_file(&rec, "kernel-cpu0.dat", content.data, content.len);
}

/* Write the pages that a recorder has written by @time_ns, and a part of the next one. */
static void bring_pages(struct file *file, uint64_t time_ns)
{
	size_t nr = time_ns < 1003 ? 0 : time_ns < 1040 ? 1 : time_ns < 1500 ? 2 : 3;

	bring(file, nr * KERNEL_PAGE_BYTES + 100);
}

/*
 * Two tasks take turns, and a third one begins later. Compare the whole recording with one that
 * grows in steps of @step_ns.
 */
static void check_steps(uint64_t step_ns)
{
	struct strbuf whole cleanup_strbuf = { 0 };
	struct strbuf perf cleanup_strbuf = { 0 };

	recording_add_task(&rec, 100, "a{b{}c{d{} }!}a{b{}}", 1000);
	recording_add_task(&rec, 102, "e{f{*}g{ h{", 1005);
	recording_add_task(&rec, 101, "x{y{}}", 1503);
	perf_add_sched(&perf, 'o', 102, 1028);
	perf_add_sched(&perf, 'i', 102, 1051);
	perf_add_sched(&perf, 'o', 101, 1507);
	perf_add_sched(&perf, 'i', 101, 1511);
	recording_add_file(&rec, "perf-cpu0.dat", perf.data, perf.len);
	add_kernel_files();
	recording_finish(&rec);
	recording_run(&rec, &config, &whole);

	withdraw(&files[0], "100.dat");
	withdraw(&files[1], "102.dat");
	withdraw(&files[2], "101.dat");
	withdraw(&files[3], "task.txt");
	withdraw(&files[4], "kernel-cpu0.dat");
	open_growing();
	for (uint64_t now_ns = 900; now_ns < 3500; now_ns += step_ns) {
		bring(&files[3], now_ns < 1500 ? (now_ns - 900) * 3 : SIZE_MAX);
		if (now_ns >= 1000)
			bring(&files[3], 250);
		for (size_t i = 0; i < 3; i++)
			bring_records(&files[i], now_ns);
		bring_pages(&files[4], now_ns);
		follow(now_ns);
	}
	for (size_t i = 0; i < NR_FILES; i++)
		bring(&files[i], SIZE_MAX);
	follow(UINT64_MAX);
	assert_string_equal(strbuf_str(&out), strbuf_str(&whole));
}

TEST_WITH(small_steps, setup, teardown)
{
	check_steps(1);
}

TEST_WITH(steps, setup, teardown)
{
	check_steps(37);
}

TEST_WITH(large_steps, setup, teardown)
{
	check_steps(600);
}

/* A loss without a time does not settle the time at which the recording begins. */
TEST_WITH(a_recording_begins_after_losses, setup, teardown)
{
	recording_add_task(&rec, 100, "!a{b{}}", 1000);
	recording_finish(&rec);
	withdraw(&files[0], "100.dat");
	open_growing();
	bring(&files[0], sizeof(struct record));
	follow(900);
	assert_int_equal(pipe_.first_ns, 0);
	bring(&files[0], SIZE_MAX);
	follow(UINT64_MAX);
	assert_true(pipe_.first_ns >= 1000);
	assert_string_equal(strbuf_str(&out), "100:!a{b{}}");
}

TEST_WITH(duration, setup, teardown)
{
	config.stages.time_filter_ns = 30;
	check_steps(3);
}

TEST_WITH(depth_and_range, setup, teardown)
{
	config.stages.depth = 2;
	config.range.start =
		(struct range_edge){ .time_ns = 15, .is_set = true, .is_elapsed = true };
	config.range.stop = (struct range_edge){ .time_ns = 1508, .is_set = true };
	check_steps(7);
}

/* Events of other tasks wait until it is known whether an earlier call will be shown. */
TEST_WITH(order_is_kept, setup, teardown)
{
	config.stages.time_filter_ns = 500;
	recording_add_task(&rec, 100, "a{b{ }}", 1000);
	recording_add_task(&rec, 101, "c{ }", 1015);
	recording_finish(&rec);
	open_growing();
	follow(1400);
	assert_string_equal(strbuf_str(&out), "");
	follow(1501);
	assert_string_equal(strbuf_str(&out), "100:a{");
	follow(1600);
	assert_string_equal(strbuf_str(&out), "100:a{b{ 101:c{");
	follow(UINT64_MAX);
	assert_string_equal(strbuf_str(&out), "100:a{b{ 101:c{ 100:} 101:} 100:}");
}

/*
 * Entries that were held back have old times. The line of their session, and then the entries, may
 * be written after task.txt was read, and before the file of records is. Such entries wait for the
 * next look: otherwise they would get names of the session before.
 */
TEST_WITH(session_while_looking, setup, teardown)
{
	static const char map[] = "3fffc0-4fffc0 r-xp 00000000 00:00 0 /x/prog\n";
	struct view view = { recording_write, &writer };
	struct uft_err err = { 0 };

	recording_add_task(&rec, 100, "a{ab", 1000);
	strbuf_addstr(
		&rec.task_txt,
		"SESS timestamp=0.000001005 pid=100 sid=fedcba9876543210 exename=\"/x/prog\"\n");
	recording_finish(&rec);
	recording_add_file(&rec, "sid-fedcba9876543210.map", map, strlen(map));
	withdraw(&files[0], "task.txt");
	withdraw(&files[1], "100.dat");
	bring(&files[0], 130);
	bring(&files[1], 16);
	open_growing();
	follow(1100);
	assert_string_equal(strbuf_str(&out), "100:a{");

	look();
	bring(&files[0], SIZE_MAX);
	bring(&files[1], 32);
	assert_int_equal(pipeline_follow(&pipe_, 1100, &view, &err), 0);
	assert_string_equal(strbuf_str(&out), "100:a{");

	look();
	bring(&files[1], SIZE_MAX);
	assert_int_equal(pipeline_follow(&pipe_, 1100, &view, &err), 0);
	assert_string_equal(strbuf_str(&out), "100:a{b{");
	follow(1100);
	assert_string_equal(strbuf_str(&out), "100:a{b{c{");
}

/*
 * The recording is first read up to a time between leaving the CPU and coming back. The first call
 * is in the file already.
 */
TEST_WITH(elapsed_counts_from_the_first_return_to_the_cpu, setup, teardown)
{
	struct strbuf perf cleanup_strbuf = { 0 };

	recording_add_task(&rec, 100, "a{b{}}", 1000);
	perf_add_sched(&perf, 'o', 100, 500);
	perf_add_sched(&perf, 'i', 100, 900);
	perf_add_sched(&perf, 'o', 100, 950);
	perf_add_sched(&perf, 'i', 100, 980);
	recording_add_file(&rec, "perf-cpu0.dat", perf.data, perf.len);
	recording_finish(&rec);
	withdraw(&files[0], "perf-cpu0.dat");
	bring(&files[0], perf.len / 4);
	open_growing();
	follow(600);
	bring(&files[0], SIZE_MAX);
	follow(910);
	follow(970);
	follow(UINT64_MAX);
	assert_int_equal(pipe_.first_ns, 900);
}

/*
 * Add events like "o500" to the queue of the only task: "o" and "i" leave the CPU and come back,
 * "{" and "}" are a call of the kernel, "k" and "u" are points of the kernel and of the program.
 */
static void queue_events(const char *text)
{
	static const char letters[] = "oi{}ku";
	static const uint8_t types[] = { EVENT_SCHED_OUT, EVENT_SCHED_IN, EVENT_ENTRY,
					 EVENT_EXIT,	  EVENT_POINT,	  EVENT_POINT };

	for (char *end; *text; text = *end ? end + 1 : end) {
		size_t kind = strchr(letters, *text) - letters;

		assert_int_equal(queue_add(&pipe_.feed.queues[0],
					   (struct queued){ .time_ns = strtoul(text + 1, &end, 10),
							    .type = types[kind],
							    .addr = *text == 'k' ? 300 : 1000001 }),
				 0);
	}
}

/* The first return to the CPU that is known may come before the first record, which is at 1000. */
TEST_WITH(first_returns_to_the_cpu, setup, teardown)
{
	static const struct {
		const char *events, *more;
		uint64_t known_ns;
		uint64_t first_ns;
	} rows[] = {
		{ "o500 i900", "", 950, 900 },
		{ "o500 i900", "", 900, 900 },
		{ "o500 i900", "", 899, 1000 },
		{ "i900", "", 950, 1000 },
		{ "i500 i900", "", 950, 1000 },
		{ "o500 {600 }700 i900", "", 950, 900 },
		{ "o500 k600 i900", "", 950, 900 },
		{ "o500 u600 i900", "", 950, 1000 },
		{ "o500 o600 i800 o850 i900", "", 950, 800 },
		{ "o500 i1001", "", 1500, 1000 },
		/* The lane has taken the first events. */
		{ "o500", "i900", 950, 900 },
		{ "o500 u600", "i900", 950, 1000 },
		{ "o500 i800", "o850 i900", 950, 800 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct queue *queue;

		if (i) {
			teardown(state);
			setup(state);
		}
		recording_add_task(&rec, 100, "a{}", 1000);
		recording_finish(&rec);
		open_growing();
		assert_int_equal(pipe_.feed.nr_queues, 1);
		queue = &pipe_.feed.queues[0];
		queue_events(rows[i].events);
		pipe_.known_ns = rows[i].known_ns;
		assert_int_equal(pipeline_find_start(&pipe_, NULL), 0);
		if (*rows[i].more) {
			queue_drop(queue, queue->nr);
			queue_events(rows[i].more);
			assert_int_equal(pipeline_find_start(&pipe_, NULL), 0);
		}
		assert_int_equal(pipe_.first_ns, rows[i].first_ns);
		/* Times of a range count from the first record. */
		pipe_.config.range.stop.is_set = true;
		assert_int_equal(pipeline_find_start(&pipe_, NULL), 0);
		assert_int_equal(pipe_.first_ns, 1000);
	}
}

TEST_WITH(tasks_never_move, setup, teardown)
{
	recording_add_task(&rec, 100, "a{}", 1000);
	recording_finish(&rec);
	withdraw(&files[0], "task.txt");
	for (int tid = 2000; tid > 200; tid--)
		strbuf_addf(&files[0].text, "TASK timestamp=0.000000200 tid=%d pid=100\n", tid);
	open_growing();
	bring(&files[0], 200);
	look();

	const struct task *first = data_task(&data, 100);

	assert_non_null(first);
	assert_null(data_task(&data, 300));
	bring(&files[0], SIZE_MAX);
	look();
	assert_ptr_equal(data_task(&data, 100), first);
	assert_int_equal(data_task(&data, 300)->tid, 300);
	assert_int_equal(data.nr_tasks, 1801);
	assert_string_equal(task_name_at(data_task(&data, 300), 5000), "prog");
	assert_null(data_task(&data, -1));
	assert_null(data_task(&data, INT_MAX));
}

TEST_WITH(bad_lines, setup, teardown)
{
	static const char *const lines[] = {
		"TASK timestamp=0.000000200 tid=4194304 pid=100\n",
		"TASK timestamp=0.000000200 tid=-5 pid=100\n",
		"FORK timestamp=0.000000200 pid=0 ppid=100\n",
		"nonsense\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct uft_err err = { 0 };

		if (i)
			recording_init(&rec);
		strbuf_addstr(&rec.task_txt, lines[i]);
		recording_finish(&rec);
		assert_int_equal(data_open_growing(&data, rec.dir, DEMANGLE_SIMPLE, &err), 0);
		assert_int_equal(data_read_more(&data, &err), 0);
		assert_true(data_grow(&data, &err) < 0);
		assert_non_null(strstr(err.text, "task.txt"));
		data_close(&data);
		if (i + 1 < ARRAY_SIZE(lines))
			recording_deinit(&rec);
	}
}

/*
 * Calls of a growing recording are shown before they end, so conditions on return values are
 * refused.
 */
TEST_WITH(conditions_on_return_values, setup, teardown)
{
	struct filters filters cleanup_filters = { 0 };
	struct uft_err err = { 0 };

	assert_int_equal(filters_add(&filters, SPEC_FILTER, MATCH_GLOB, "a@if:retval==0", NULL), 0);
	assert_int_equal(filters_prepare(&filters, NULL), 0);
	config.stages.filters = &filters;
	config.stages.actions = UINT32_MAX;
	recording_add_task(&rec, 100, "a{}", 1000);
	recording_finish(&rec);
	assert_int_equal(data_open_growing(&data, rec.dir, DEMANGLE_SIMPLE, &err), 0);
	look();
	assert_int_equal(pipeline_open(&pipe_, &data, &config, &err), -ERR_USAGE);
	assert_non_null(strstr(err.text, "condition on a return value"));
}

/* An option cannot be followed if its effect is known only at the end. Others can. */
TEST_WITH(options_of_a_recording_that_grows, setup, teardown)
{
	static const char switches[] =
		"cannot follow a recording with trace_on or trace_off: their effect is known only "
		"at the end";
	static const char last[] =
		"cannot follow a recording with --last: its end is not known yet";
	static const struct {
		const char *spec;
		bool is_from_end;
		const char *text;
	} rows[] = {
		{ "a@trace_on", false, switches },
		{ "b@trace_off", true, switches },
		/* A library with this function may be loaded later. */
		{ "later@trace_off", false, switches },
		{ NULL, true, last },
		{ "a@depth=1", true, last },
		{ "a@depth=1", false, NULL },
		{ "a@if:arg1==1", false, NULL },
		{ NULL, false, NULL },
	};
	const size_t most = (14 << 20) / sizeof(struct event);

	recording_add_task(&rec, 100, "a{b{}}", 1000);
	recording_finish(&rec);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filters filters cleanup_filters = { 0 };
		bool is_filter = rows[i].spec && strstr(rows[i].spec, "if:");
		struct uft_err err = { 0 };

		if (rows[i].spec)
			assert_int_equal(filters_add(&filters,
						     is_filter ? SPEC_FILTER : SPEC_TRIGGER,
						     MATCH_GLOB, rows[i].spec, NULL),
					 0);
		assert_int_equal(filters_prepare(&filters, NULL), 0);
		config.stages.filters = rows[i].spec ? &filters : NULL;
		config.range.start.is_set = config.range.start.is_from_end = rows[i].is_from_end;
		assert_int_equal(data_open_growing(&data, rec.dir, DEMANGLE_SIMPLE, &err), 0);
		look();
		assert_int_equal(pipeline_open(&pipe_, &data, &config, &err),
				 rows[i].text ? -ERR_USAGE : 0);
		assert_string_equal(err.text, rows[i].text ?: "");
		if (!rows[i].text) {
			assert_int_equal(pipe_.limit_ns, 0);
			assert_true(pipe_.first_ns == UINT64_MAX);
			assert_int_equal(pipe_.nr_lanes, 0);
			assert_null(pipe_.surveys);
			assert_true(pipe_.batch * 64 <= most && (pipe_.batch + 1) * 64 > most);
		}
		pipeline_close(&pipe_);
		data_close(&data);
		data = (struct trace_data){ 0 };
	}
	assert_int_equal(data_open_growing(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
}

/* Events of tasks that are not selected are dropped, and the tasks get no lanes. */
TEST_WITH(selected_tasks, setup, teardown)
{
	int tids[] = { 102 };

	config.tids = tids;
	config.nr_tids = 1;
	check_steps(37);
	assert_int_equal(pipe_.nr_lanes, 1);
	assert_int_equal(pipe_.lanes[0].task->tid, 102);
	assert_true(pipe_.feed.nr_queues >= 3);
	for (size_t i = 0; i < pipe_.feed.nr_queues; i++) {
		assert_int_equal(pipe_.feed.queues[i].is_wanted, data.tasks[i].tid == 102);
		if (data.tasks[i].tid != 102)
			assert_int_equal(pipe_.feed.queues[i].nr, 0);
	}
}

/* After an exec, the calls of a compact file have the names of the new program. */
TEST_WITH(a_compact_file_with_an_exec, setup, teardown)
{
	static const char map[] = "3fffc0-4fffc0 r-xp 00000000 00:00 0 /x/prog\n";

	recording_add_task(&rec, 100, "a{c{a{c{", 1000);
	strbuf_addstr(
		&rec.task_txt,
		"SESS timestamp=0.000001015 pid=100 sid=fedcba9876543210 exename=\"/x/prog\"\n");
	recording_finish(&rec);
	recording_pack(&rec, 100, 32);
	recording_add_file(&rec, "sid-fedcba9876543210.map", map, strlen(map));
	withdraw(&files[0], "task.txt");
	withdraw(&files[1], "100.cdat");
	bring(&files[0], 130);
	/* The last block is not whole. */
	bring(&files[1], files[1].text.len - 1);
	open_growing();
	follow(1012);
	assert_string_equal(strbuf_str(&out), "100:a{c{");
	for (size_t i = 0; i < 2; i++)
		bring(&files[i], SIZE_MAX);
	follow(UINT64_MAX);
	assert_string_equal(strbuf_str(&out), "100:a{c{b{d{");
}

TEST_WITH(not_there, setup, teardown)
{
	struct uft_err err = { 0 };

	assert_int_equal(data_open_growing(&data, "/nonexistent", DEMANGLE_SIMPLE, &err), -ENOENT);
}
