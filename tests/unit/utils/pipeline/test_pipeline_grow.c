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
	data_measure_files(&data);
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
 * Entries that were held back have old times. They may be written after the line of their session,
 * when task.txt was just read. Then they wait for the next look: otherwise they would get names of
 * the session before.
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

/* The look ends between leaving the CPU and coming back. The first call is in the file already. */
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

/* A growing recording shows calls before their ends, so these conditions are refused. */
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

TEST_WITH(not_there, setup, teardown)
{
	struct uft_err err = { 0 };

	assert_int_equal(data_open_growing(&data, "/nonexistent", DEMANGLE_SIMPLE, &err), -ENOENT);
}
