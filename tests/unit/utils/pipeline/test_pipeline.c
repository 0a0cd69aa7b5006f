/* The pipeline with all its stages: a tree of calls goes in, and a tree of calls comes out. */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/kernel_page.h"
#include "tests/unit/lib/read/recording.h"
#include "utils/base/fd.h"
#include "utils/format/bytes.h"

static struct pipeline_config config;

static int setup(void **state)
{
	pipeline_config_init(&config);
	config.stages.wants = STAGE_WANTS_DEPTHS;
	return 0;
}

/*
 * Check that a task with calls @tree comes out as "100:" and @expected.
 */
static void check(const char *tree, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct recording rec;
	char all[256];

	recording_init(&rec);
	recording_add_task(&rec, 100, tree, 1000);
	recording_finish(&rec);
	recording_run(&rec, &config, &out);
	snprintf(all, sizeof(all), "100:%s", expected);
	assert_string_equal(strbuf_str(&out), *expected ? all : "");
	recording_deinit(&rec);
}

TEST_WITH(everything_passes, setup, NULL)
{
	check("a{b{}c{d{}}}", "a{b{}c{d{}}}");
	check("a{b{*}}", "a{b{*}}");
	check("a{b{", "a{b{");
}

TEST_WITH(events_outside_of_calls, setup, NULL)
{
	check("*a{}*", "a{}");
	config.stages.show_outside = true;
	check("*a{}*", "*a{}*");
}

TEST_WITH(depth, setup, NULL)
{
	config.stages.depth = 2;
	check("a{b{c{}}d{}}", "a{b{}d{}}");
	config.stages.depth = 1;
	check("a{b{c{}}d{}}", "a{}");
}

TEST_WITH(library_calls_make_room, setup, NULL)
{
	config.stages.show_libcalls = false;
	check("a{B{c{}}d{}}", "a{c{}d{}}");
}

TEST_WITH(size, setup, NULL)
{
	config.stages.size_filter = 17;
	check("a{B{c{}}d{}}", "a{c{}d{}}");
	config.stages.size_filter = 65;
	check("a{B{c{}}d{}}", "");
}

TEST_WITH(duration, setup, NULL)
{
	config.stages.time_filter_ns = 30;
	check("a{b{}c{d{}}}", "a{c{}}");
	config.stages.time_filter_ns = 500;
	check("a{b{}c{ }d{e{ }f{}}}", "a{c{}d{e{}}}");
	check("a{b{}}", "");
	/* The filter keeps calls that are still open, and exits without an entry. */
	check("a{b{}c{", "a{c{");
	check("2)a)b", "}?}?");
	/* An event of the program keeps the calls around it. */
	check("a{b{*}d{}c{* }}", "a{b{*}c{*}}");
}

TEST_WITH(limits_are_inclusive, setup, NULL)
{
	config.stages.time_filter_ns = 10;
	check("a{b{}}", "a{b{}}");
	config.stages.time_filter_ns = 11;
	check("a{b{}}", "a{}");
	config.stages.time_filter_ns = 30;
	check("a{b{}}", "a{}");
	config.stages.time_filter_ns = 31;
	check("a{b{}}", "");
	config.stages.time_filter_ns = 0;
	config.stages.size_filter = 64;
	check("a{B{}}", "a{}");
	config.stages.size_filter = 16;
	check("a{B{}}", "a{B{}}");
	config.stages.size_filter = 0;
	config.range.start.is_set = config.range.stop.is_set = true;
	config.range.start.time_ns = 1010;
	config.range.stop.time_ns = 1020;
	check("a{b{}c{}}", "b{}");
	config.range.start.time_ns = 1011;
	config.range.stop.time_ns = 1029;
	check("a{b{}c{}}", "}?");
}

TEST_WITH(exits_without_entries, setup, NULL)
{
	check("3)c)b)a", "}?}?}?");
	check(")a)b", "}?}?");
}

TEST_WITH(lost_records, setup, NULL)
{
	check("a{b{c{!}}}", "a{b{c{!}}}");
	check("a{!3e{})x", "a{!e{}}?");
}

TEST_WITH(time_range, setup, NULL)
{
	config.range.start.is_set = true;
	config.range.start.time_ns = 1015;
	check("a{b{}c{}}", "}?c{}}?");
	config.range.stop.is_set = true;
	config.range.stop.time_ns = 1040;
	check("a{b{}c{}}", "}?c{}");
}

TEST_WITH(several_tasks, setup, NULL)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct recording rec;

	recording_init(&rec);
	recording_add_task(&rec, 101, "a{b{}}", 1000);
	recording_add_task(&rec, 102, "c{d{}}", 1015);
	recording_add_task(&rec, 103, "e{}", 5000);
	recording_finish(&rec);
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "101:a{b{ 102:c{ 101:} 102:d{ 101:} 102:}} 103:e{}");

	strbuf_reset(&out);
	config.order = PIPELINE_BY_TASK;
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "101:a{b{}} 102:c{d{}} 103:e{}");

	int tids[] = { 102 };

	strbuf_reset(&out);
	config.tids = tids;
	config.nr_tids = 1;
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "102:c{d{}}");
	recording_deinit(&rec);
}

/* At equal times the lower task id comes first, whatever the number of tasks. */
TEST_WITH(ties_and_many_tasks, setup, NULL)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct strbuf expected cleanup_strbuf = { 0 };
	struct recording rec;

	recording_init(&rec);
	for (int i = 0; i < 700; i++)
		recording_add_task(&rec, 1000 + i, "a{}", 1000);
	recording_finish(&rec);
	recording_run(&rec, &config, &out);
	for (int i = 0; i < 700; i++)
		strbuf_addf(&expected, "%s%d:a{", i ? " " : "", 1000 + i);
	for (int i = 0; i < 700; i++)
		strbuf_addf(&expected, " %d:}", 1000 + i);
	assert_string_equal(strbuf_str(&out), strbuf_str(&expected));
	recording_deinit(&rec);
}

/*
 * Events come in the order of time, at equal times in that of the tasks' numbers. For tasks that
 * have runs of all lengths, and take turns, the order is that of the simplest merge.
 */
TEST_WITH(order_of_all, setup, NULL)
{
	enum {
		NR_TASKS = 9,
		NR_EVENTS = 60
	};
	unsigned seed = 1;

	for (int round = 0; round < 30; round++) {
		struct strbuf expected cleanup_strbuf = { 0 };
		struct strbuf out cleanup_strbuf = { 0 };
		uint64_t next_ns[NR_TASKS];
		unsigned nr[NR_TASKS] = { 0 };
		struct recording rec;
		int last = -1;

		recording_init(&rec);
		for (int i = 0; i < NR_TASKS; i++) {
			struct strbuf tree cleanup_strbuf = { 0 };

			seed = seed * 1103515245 + 12345;
			next_ns[i] = 1000 + (seed >> 16) % (10 << round % 6) * 10;
			for (int k = 0; k < NR_EVENTS / 2; k++)
				strbuf_addstr(&tree, "a{}");
			recording_add_task(&rec, 100 + i, strbuf_str(&tree), next_ns[i]);
		}
		recording_finish(&rec);
		recording_run(&rec, &config, &out);
		for (;;) {
			int first = -1;

			for (int i = 0; i < NR_TASKS; i++) {
				if (nr[i] < NR_EVENTS && (first < 0 || next_ns[i] < next_ns[first]))
					first = i;
			}
			if (first < 0)
				break;
			if (first != last)
				strbuf_addf(&expected, "%s%d:", last < 0 ? "" : " ", 100 + first);
			strbuf_addstr(&expected, nr[first]++ % 2 ? "}" : "a{");
			next_ns[first] += 10;
			last = first;
		}
		assert_string_equal(strbuf_str(&out), strbuf_str(&expected));
		recording_deinit(&rec);
	}
}

/*
 * Tasks take turns, and one has long runs while others wait. recording_run() reads in two ways,
 * whose results must be equal.
 */
TEST_WITH(turns, setup, NULL)
{
	struct strbuf tree cleanup_strbuf = { 0 };
	struct strbuf out cleanup_strbuf = { 0 };
	struct recording rec;
	unsigned seed = 7;

	recording_init(&rec);
	for (int task = 0; task < 6; task++) {
		strbuf_reset(&tree);
		for (int i = 0; i < 900; i++) {
			seed = seed * 1103515245 + 12345;
			strbuf_addstr(&tree, seed >> 16 & 1 ? "a{}" : " b{ }");
			if (seed % 50 == 0)
				strbuf_addchars(&tree, ' ', seed >> 20 & 31);
		}
		recording_add_task(&rec, 100 + task, strbuf_str(&tree), 1000 + 5000 * (task / 2));
	}
	recording_finish(&rec);
	recording_run(&rec, &config, &out);
	assert_true(out.len > 6 * 1800);
	recording_deinit(&rec);
}

/*
 * In damaged recordings times may be later than the merge can tell apart, up to the largest number.
 */
TEST_WITH(turns_at_the_end_of_time, setup, NULL)
{
	static const uint64_t starts[] = { UINT64_MAX / 2 - 25, UINT64_MAX / 2, UINT64_MAX - 100 };

	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		struct strbuf out cleanup_strbuf = { 0 };
		struct recording rec;

		recording_init(&rec);
		recording_add_task(&rec, 100, "a{b{}c{}}", starts[i]);
		recording_add_task(&rec, 101, "d{e{}f{}}", starts[i] + 5);
		recording_finish(&rec);
		recording_run(&rec, &config, &out);
		recording_deinit(&rec);
	}
}

TEST_WITH(scheduler, setup, NULL)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct strbuf perf cleanup_strbuf = { 0 };
	struct recording rec;

	recording_init(&rec);
	recording_add_task(&rec, 100, "a{ b{}}", 1000);
	recording_finish(&rec);
	perf_add_sched(&perf, 'o', 100, 1500);
	perf_add_sched(&perf, 'i', 100, 1600);
	perf_add_sched(&perf, 'o', 777, 1700);
	recording_add_file(&rec, "perf-cpu0.dat", perf.data, perf.len);
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "100:a{~^b{}}");

	/* Events before the damage are read, and so are all other files. */
	strbuf_reset(&out);
	strbuf_addchars(&perf, '\0', 24);
	recording_add_file(&rec, "perf-cpu0.dat", perf.data, perf.len);
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "100:a{~^b{}} broken");

	strbuf_reset(&out);
	config.stages.wants = STAGE_WANTS_CALLS;
	config.stages.sched = STAGE_SCHED_NONE;
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "100:a{b{}} broken");
	recording_deinit(&rec);
}

/*
 * Only events of the scheduler have a CPU. The other events of this recording have no payload:
 * their data_len, which shares its bytes with the number of the CPU, must be 0.
 */
static int check_cpus(void *self, const struct event_span *span, struct uft_err *err)
{
	unsigned *seen = self;

	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];

		if (event->type == EVENT_SCHED_OUT || event->type == EVENT_SCHED_IN)
			assert_int_equal(event->cpu, 3);
		else
			assert_int_equal(event->data_len, 0);
		*seen |= 1U << event->type;
	}
	return 0;
}

TEST_WITH(cpus_of_events, setup, NULL)
{
	const unsigned all = 1U << EVENT_SCHED_OUT | 1U << EVENT_SCHED_IN | 1U << EVENT_POINT;
	struct strbuf perf cleanup_strbuf = { 0 };
	struct pipeline_config config;
	struct trace_data data;
	struct pipeline pipe;
	struct recording rec;
	uint8_t task_exit[48] = { 0 };
	unsigned seen = 0;

	put_u32(task_exit, 4, false);
	put_u16(task_exit + 6, sizeof(task_exit), false);
	put_u32(task_exit + 8, 100, false);
	put_u32(task_exit + 16, 100, false);
	put_u64(task_exit + 24, 1700, false);
	pipeline_config_init(&config);
	recording_init(&rec);
	recording_add_task(&rec, 100, "a{ b{ }}", 1000);
	recording_finish(&rec);
	perf_add_sched(&perf, 'o', 100, 1500);
	perf_add_sched(&perf, 'i', 100, 1600);
	strbuf_add(&perf, task_exit, sizeof(task_exit));
	recording_add_file(&rec, "perf-cpu3.dat", perf.data, perf.len);
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(pipeline_open(&pipe, &data, &config, NULL), 0);
	assert_int_equal(pipeline_run(&pipe, &(struct view){ check_cpus, &seen }, NULL), 0);
	assert_int_equal(seen & all, all);
	pipeline_close(&pipe);
	data_close(&data);
	recording_deinit(&rec);
}

/*
 * Kernel events come in the calls in which they happen, between events of the scheduler. Events of
 * unknown tasks are left out.
 */
TEST_WITH(kernel_events, setup, NULL)
{
	static const char header[] = "PAGE_SIZE: 4096\nLONG_SIZE: 4\nENDIAN: BE\n";
	struct strbuf out cleanup_strbuf = { 0 };
	struct strbuf perf cleanup_strbuf = { 0 };
	struct kernel_page_maker page;
	struct recording rec;

	kernel_page_begin(&page, 1003, 4, true);
	kernel_page_record(&page, 0, 7, 100, NULL, 0);
	kernel_page_record(&page, 10, 7, 777, NULL, 0);
	kernel_page_record(&page, 537, 7, 100, NULL, 0);
	kernel_page_record(&page, 50, 7, 100, NULL, 0);
	kernel_page_record(&page, 500, 7, 100, NULL, 0);
	kernel_page_end(&page, 0);
	recording_init(&rec);
	recording_add_task(&rec, 100, "a{ b{}}", 1000);
	recording_finish(&rec);
	perf_add_sched(&perf, 'o', 100, 1500);
	perf_add_sched(&perf, 'i', 100, 1600);
	recording_add_file(&rec, "perf-cpu0.dat", perf.data, perf.len);
	recording_add_file(&rec, "kernel_header", header, sizeof(header) - 1);
	recording_add_file(&rec, "kernel-cpu2.dat", page.bytes, sizeof(page.bytes));
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "100:a{*~*^*b{}}");

	/* Only the damaged page is lost. */
	strbuf_reset(&out);
	recording_add_file(&rec, "kernel-cpu3.dat", page.bytes, sizeof(page.bytes));
	memset(page.bytes + 8, 0xff, 4);
	recording_add_file(&rec, "kernel-cpu2.dat", page.bytes, sizeof(page.bytes));
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "100:a{*~*^*b{}} broken");

	strbuf_reset(&out);
	config.stages.show_events = false;
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "100:a{b{}}");
	recording_deinit(&rec);
}

TEST_WITH(external_data, setup, NULL)
{
	static const char text[] = "# comment\n\n0.000001005 hello world\n";
	struct strbuf out cleanup_strbuf = { 0 };
	struct recording rec;

	config.reads_extern = true;
	recording_init(&rec);
	recording_add_task(&rec, 100, "a{b{}}", 1000);
	recording_finish(&rec);
	recording_add_file(&rec, "extern.dat", text, strlen(text));
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "100:a{#b{}}");
	recording_deinit(&rec);
}

/* A time range has lines of users, too. Both of its ends belong to it. */
TEST_WITH(external_data_in_a_range, setup, NULL)
{
	static const char text[] = "0.000001005 one\n0.000001015 two\n0.000001025 three\n"
				   "0.000001035 four\n";
	static const struct {
		uint64_t start_ns, stop_ns;
		const char *expected;
	} cases[] = {
		{ 0, 0, "100:a{#b{#}#}#" },  { 1006, 0, "100:b{#}#}?#" },
		{ 1015, 1025, "# 100:}?#" }, { 1016, 1024, "100:}?" },
		{ 0, 1014, "100:a{#b{" },
	};

	config.reads_extern = true;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf out cleanup_strbuf = { 0 };
		struct recording rec;

		config.range.start.is_set = cases[i].start_ns;
		config.range.start.time_ns = cases[i].start_ns;
		config.range.stop.is_set = cases[i].stop_ns;
		config.range.stop.time_ns = cases[i].stop_ns;
		recording_init(&rec);
		recording_add_task(&rec, 100, "a{b{}}", 1000);
		recording_finish(&rec);
		recording_add_file(&rec, "extern.dat", text, strlen(text));
		recording_run(&rec, &config, &out);
		assert_string_equal(strbuf_str(&out), cases[i].expected);
		recording_deinit(&rec);
	}
}

/* Lines of users come at their time, whatever the number of tasks. */
TEST_WITH(external_data_of_many_tasks, setup, NULL)
{
	static const char text[] = "0.000001005 hello world\n";

	config.reads_extern = true;
	for (int nr = 1; nr <= 6; nr++) {
		struct strbuf expected cleanup_strbuf = { 0 };
		struct strbuf out cleanup_strbuf = { 0 };
		struct recording rec;

		recording_init(&rec);
		for (int i = 0; i < nr; i++) {
			recording_add_task(&rec, 100 + i, "a{}", 1000);
			strbuf_addf(&expected, "%s%d:a{", i ? " " : "", 100 + i);
		}
		strbuf_addch(&expected, '#');
		/* A line belongs to no task, so it does not change the order of the tasks. */
		for (int i = 0; i < nr; i++) {
			if (nr > 1)
				strbuf_addf(&expected, " %d:", 100 + i);
			strbuf_addch(&expected, '}');
		}
		recording_finish(&rec);
		recording_add_file(&rec, "extern.dat", text, strlen(text));
		recording_run(&rec, &config, &out);
		assert_string_equal(strbuf_str(&out), strbuf_str(&expected));
		recording_deinit(&rec);
	}
}

TEST_WITH(other_byte_order_and_version, setup, NULL)
{
	for (int i = 0; i < 4; i++) {
		struct strbuf out cleanup_strbuf = { 0 };
		struct recording rec;

		recording_init(&rec);
		rec.big = i & 1;
		rec.version = i & 2 ? 3 : 4;
		recording_add_task(&rec, 100, "a{b{}!}", 1000);
		recording_finish(&rec);
		recording_run(&rec, &config, &out);
		assert_string_equal(strbuf_str(&out), "100:a{b{}!}");
		recording_deinit(&rec);
	}
}

/* A file that is cut anywhere, or ends with zeros, is read as far as possible. */
TEST_WITH(torn_tails, setup, NULL)
{
	static const char tree[] = "a{b{}c{}}";
	static const char *const read_so_far[] = { "",
						   "100:a{",
						   "100:a{b{",
						   "100:a{b{}",
						   "100:a{b{}c{",
						   "100:a{b{}c{}",
						   "100:a{b{}c{}}" };
	struct strbuf whole cleanup_strbuf = { 0 };
	struct recording rec;
	char path[128];

	recording_init(&rec);
	recording_add_task(&rec, 100, tree, 1000);
	recording_finish(&rec);
	snprintf(path, sizeof(path), "%s/100.dat", rec.dir);
	assert_int_equal(file_read_all(path, 4096, &whole, NULL), 0);
	for (size_t len = 1; len <= whole.len; len++) {
		struct strbuf out cleanup_strbuf = { 0 };
		uint8_t zeros[8192] = { 0 };

		recording_add_file(&rec, "100.dat", whole.data, len);
		recording_run(&rec, &config, &out);
		assert_string_equal(strbuf_str(&out), read_so_far[len / 16]);

		memcpy(zeros, whole.data, len / 16 * 16);
		recording_add_file(&rec, "100.dat", zeros, sizeof(zeros));
		strbuf_reset(&out);
		recording_run(&rec, &config, &out);
		assert_string_equal(strbuf_str(&out), read_so_far[len / 16]);
	}
	recording_deinit(&rec);
}

/* A damaged record ends only its own task. */
TEST_WITH(damaged_record, setup, NULL)
{
	struct strbuf out cleanup_strbuf = { 0 };
	uint8_t bytes[48] = { 0 };
	struct recording rec;

	recording_init(&rec);
	recording_add_task(&rec, 101, "a{}", 1000);
	recording_add_task(&rec, 102, "b{}", 2000);
	recording_finish(&rec);
	memset(bytes, 0xff, sizeof(bytes));
	recording_add_file(&rec, "101.dat", bytes, sizeof(bytes));
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "102:b{} broken");
	recording_deinit(&rec);
}

/* The reader goes on after arguments of unknown types. */
TEST_WITH(unknown_payload, setup, NULL)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct strbuf file cleanup_strbuf = { 0 };
	struct recording rec;
	uint64_t a = 0x401004ULL << 16 | 5 << 3;
	uint64_t b = 0x401044ULL << 16 | 5 << 3 | 1 << 6;
	const uint64_t words[] = {
		1000, a | 4,	 1005,	42, /* a(...) { */
		1010, b | 4,	 7,	    /*   b(.) { */
		1020, b | 1 | 4, ~0ULL,	    /*   } = . */
		1030, a | 1,		    /* } */
	};

	recording_init(&rec);
	recording_add_task(&rec, 100, "a{}", 1000);
	recording_finish(&rec);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		uint8_t bytes[8];

		put_u64(bytes, words[i], false);
		strbuf_add(&file, bytes, sizeof(bytes));
	}
	recording_add_file(&rec, "100.dat", file.data, file.len);
	recording_run(&rec, &config, &out);
	assert_string_equal(strbuf_str(&out), "100:a{b{}}");
	recording_deinit(&rec);
}

/* --- how a pipeline is opened --- */

static struct recording rec_;
static struct trace_data data_;
static struct pipeline pipe_;

static int setup_open(void **state)
{
	setup(state);
	recording_init(&rec_);
	return 0;
}

static int teardown_open(void **state)
{
	recording_deinit(&rec_);
	return 0;
}

static void open_pipe(void)
{
	assert_int_equal(data_open(&data_, rec_.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(pipeline_open(&pipe_, &data_, &config, NULL), 0);
}

static void close_pipe(void)
{
	assert_null(pipe_.open_fds);
	pipeline_close(&pipe_);
	data_close(&data_);
}

/* With --last, times count back from the last record of all tasks. */
TEST_WITH(ranges_from_the_end, setup_open, teardown_open)
{
	static const struct {
		uint64_t start_ns, stop_ns;
		uint64_t first, last;
	} rows[] = {
		{ 1000, 10, 4010, 5000 },
		{ 5009, 0, 1, 5010 },
		{ 5010, 5011, 0, 0 },
		{ UINT64_MAX, UINT64_MAX, 0, 0 },
	};
	struct strbuf perf cleanup_strbuf = { 0 };

	recording_add_task(&rec_, 101, "a{ }", 1000);
	recording_add_task(&rec_, 102, "c{}", 5000);
	recording_add_task(&rec_, 103, "a{}", 3000);
	recording_add_task(&rec_, 104, "", 1000);
	recording_finish(&rec_);
	perf_add_sched(&perf, 'o', 104, 9000);
	recording_add_file(&rec_, "perf-cpu0.dat", perf.data, perf.len);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		config.range.start = (struct range_edge){ rows[i].start_ns, true,
							  .is_from_end = true };
		config.range.stop = (struct range_edge){ rows[i].stop_ns, true,
							 .is_from_end = true };
		open_pipe();
		assert_int_equal(pipe_.start_ns, rows[i].first);
		assert_int_equal(pipe_.stop_ns, rows[i].last);
		assert_int_equal(pipe_.first_ns, 1000);
		close_pipe();
	}
	/* An edge that is not set is open. */
	config.range.start.is_set = config.range.stop.is_set = false;
	open_pipe();
	assert_int_equal(pipe_.start_ns, 0);
	assert_true(pipe_.stop_ns == UINT64_MAX);
	close_pipe();
}

/* Without records, the last event ends the recording. */
TEST_WITH(ranges_from_the_last_event, setup_open, teardown_open)
{
	struct strbuf perf cleanup_strbuf = { 0 };

	recording_add_task(&rec_, 101, "", 1000);
	recording_add_task(&rec_, 102, "", 1000);
	recording_add_task(&rec_, 103, "", 1000);
	recording_finish(&rec_);
	perf_add_sched(&perf, 'o', 103, 1400);
	perf_add_sched(&perf, 'o', 102, 1700);
	recording_add_file(&rec_, "perf-cpu0.dat", perf.data, perf.len);
	config.range.start = (struct range_edge){ 100, true, .is_from_end = true };
	open_pipe();
	assert_int_equal(pipe_.start_ns, 1600);
	assert_int_equal(pipe_.first_ns, 1400);
	close_pipe();
}

/* The time from which elapsed times count, and the time of the first record. */
TEST_WITH(first_times, setup_open, teardown_open)
{
	static const struct {
		const char *trees[2];
		uint64_t back_ns; /* a return to the CPU; 0: none */
		uint64_t first_ns;
		uint64_t first_record_ns;
	} rows[] = {
		{ { "a{}", "b{}" }, 0, 1000, 1000 },
		{ { "!", "b{}" }, 0, 2000, 2000 },
		{ { "b{}", "!" }, 0, 1000, 1000 },
		{ { "", "b{}" }, 0, 2000, 2000 },
		{ { "", "!" }, 0, 0, 0 },
		{ { "", "" }, 0, UINT64_MAX, UINT64_MAX },
		{ { "a{}", "b{}" }, 900, 900, 1000 },
		{ { "a{}", "b{}" }, 1001, 1000, 1000 },
		{ { "!", "" }, 900, 800, 800 },
		{ { "", "" }, 900, 800, UINT64_MAX },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct strbuf perf cleanup_strbuf = { 0 };

		if (i) {
			teardown_open(state);
			setup_open(state);
		}
		recording_add_task(&rec_, 101, rows[i].trees[0], 1000);
		recording_add_task(&rec_, 102, rows[i].trees[1], 2000);
		recording_finish(&rec_);
		if (rows[i].back_ns) {
			perf_add_sched(&perf, 'o', 102, rows[i].back_ns - 100);
			perf_add_sched(&perf, 'i', 102, rows[i].back_ns);
			recording_add_file(&rec_, "perf-cpu0.dat", perf.data, perf.len);
		}
		open_pipe();
		assert_true(pipe_.first_ns == rows[i].first_ns);
		if (rows[i].first_record_ns != UINT64_MAX)
			assert_int_equal(pipeline_first_record_ns(&pipe_), rows[i].first_record_ns);
		else
			assert_true(pipeline_first_record_ns(&pipe_) == pipe_.first_ns);
		close_pipe();
	}
}

/*
 * If a recording has events, calls are not dropped at their ends: an event in a call lets the call
 * pass, however short it is.
 */
TEST_WITH(views_that_want_only_ends, setup_open, teardown_open)
{
	static const char names[] = "EVENT: 1000001 app:x\n";
	struct filters filters = { 0 };
	struct filters empty = { 0 };

	assert_int_equal(filters_add(&filters, SPEC_FILTER, MATCH_GLOB, "a", NULL), 0);
	assert_int_equal(filters_prepare(&filters, NULL), 0);
	recording_add_task(&rec_, 100, "a{}", 1000);
	for (unsigned i = 0; i < 16; i++) {
		bool has_events = i & 1;
		bool has_time = i & 2;
		bool has_filter = i & 4;

		rec_.features = has_events ? FEAT_EVENT : 0;
		recording_finish(&rec_);
		recording_add_file(&rec_, "events.txt", names, strlen(names));
		config.stages.time_filter_ns = has_time ? 5 : 0;
		config.stages.filters = has_filter ? &filters : i & 8 ? &empty : NULL;
		config.stages.wants = STAGE_WANTS_ENDS;
		open_pipe();
		assert_int_equal(pipe_.config.stages.wants, has_events && (has_time || has_filter)
								    ? STAGE_WANTS_CALLS
								    : STAGE_WANTS_ENDS);
		close_pipe();
		config.stages.wants = STAGE_WANTS_DEPTHS;
		open_pipe();
		assert_int_equal(pipe_.config.stages.wants, STAGE_WANTS_DEPTHS);
		close_pipe();
	}
	filters_deinit(&filters);
}

/* The filter stage applies a limit of depth if some calls do not count as levels. */
TEST_WITH(limits_that_need_the_filter, setup_open, teardown_open)
{
	recording_add_task(&rec_, 100, "a{}", 1000);
	recording_finish(&rec_);
	for (unsigned i = 0; i < 8; i++) {
		bool has_size = i & 1;
		bool inherits = i & 2;
		bool has_depth = i & 4;

		config.stages.size_filter = has_size ? 5 : 0;
		config.stages.opens_inherited = inherits;
		config.stages.depth = has_depth ? 3 : UINT32_MAX;
		open_pipe();
		assert_int_equal(pipe_.is_filtered, (has_size || inherits) && has_depth);
		close_pipe();
	}
}

/* Paths of calls are collected only for a view that is merged by time and gets entries. */
TEST_WITH(paths_that_are_wanted, setup_open, teardown_open)
{
	static const struct {
		const char *spec;
		enum pipeline_order order;
		int wants;
		bool wants_paths;
	} rows[] = {
		{ "a@backtrace", PIPELINE_BY_TIME, STAGE_WANTS_DEPTHS, true },
		{ "a@backtrace", PIPELINE_BY_TIME, STAGE_WANTS_CALLS, true },
		{ "a@backtrace", PIPELINE_BY_TIME, STAGE_WANTS_ENDS, false },
		{ "a@backtrace", PIPELINE_BY_TASK, STAGE_WANTS_DEPTHS, false },
		{ "a@depth=1", PIPELINE_BY_TIME, STAGE_WANTS_DEPTHS, false },
	};

	recording_add_task(&rec_, 100, "a{}", 1000);
	recording_finish(&rec_);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filters filters cleanup_filters = { 0 };

		assert_int_equal(
			filters_add(&filters, SPEC_TRIGGER, MATCH_GLOB, rows[i].spec, NULL), 0);
		assert_int_equal(filters_prepare(&filters, NULL), 0);
		config.stages.filters = &filters;
		config.stages.wants = rows[i].wants;
		config.order = rows[i].order;
		open_pipe();
		assert_int_equal(pipe_.filter.wants_paths, rows[i].wants_paths);
		assert_true(pipe_.is_filtered);
		close_pipe();
	}
}

/* Switches and conditions on return values need a first run over the calls. */
TEST_WITH(first_runs, setup_open, teardown_open)
{
	static const struct {
		const char *specs;
		size_t nr_switches;
		size_t nr_asked;
		bool runs;
	} rows[] = {
		{ "a@trace_off", 2, 0, true },	  { "a@trace_on;b@trace_off", 3, 0, true },
		{ "a@depth=2", 0, 0, false },	  { "b@depth=1;a@if:retval==1", 0, 2, true },
		{ "a@if:arg1==1", 0, 0, false },  { "nothing@trace_off", 0, 0, false },
		{ "b@if:retval==1", 0, 1, true },
	};

	recording_add_task(&rec_, 100, "a{b{}}a{}", 1000);
	recording_add_task(&rec_, 101, "c{}", 1000);
	recording_finish(&rec_);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filters filters cleanup_filters = { 0 };
		bool is_trigger = !strstr(rows[i].specs, "if:");

		assert_int_equal(filters_add(&filters, is_trigger ? SPEC_TRIGGER : SPEC_FILTER,
					     MATCH_GLOB, rows[i].specs, NULL),
				 0);
		assert_int_equal(filters_prepare(&filters, NULL), 0);
		config.stages.filters = &filters;
		open_pipe();
		assert_int_equal(pipe_.filter.nr_switches, rows[i].nr_switches);
		assert_int_equal(pipe_.filter.nr_outcomes, rows[i].runs ? 2 : 0);
		assert_int_equal(pipe_.filter.outcomes != NULL, rows[i].runs);
		if (rows[i].runs)
			assert_int_equal(pipe_.filter.outcomes[0].nr, rows[i].nr_asked);
		assert_false(pipe_.filter.collects);
		assert_false(atomic_load(&pipe_.has_shown));
		assert_int_equal(pipe_.nr_lanes, 2);
		assert_int_equal(pipe_.lanes[0].state, LANE_READS);
		close_pipe();
	}
}

/* Lines of users are read if events are shown. */
TEST_WITH(lines_of_users_are_events, setup_open, teardown_open)
{
	static const char text[] = "0.000001005 hello\n";

	recording_add_task(&rec_, 100, "a{}", 1000);
	recording_finish(&rec_);
	recording_add_file(&rec_, "extern.dat", text, strlen(text));
	for (unsigned i = 0; i < 4; i++) {
		config.reads_extern = i & 1;
		config.stages.show_events = i & 2;
		open_pipe();
		assert_int_equal(pipe_.ext != NULL, i == 3);
		close_pipe();
	}
}

/* All tasks share a limit of memory. From 32 tasks on, their buffers are in one pool. */
TEST_WITH(memory_of_many_tasks, setup_open, teardown_open)
{
	static const size_t counts[] = { 1, 31, 32, 500 };
	const size_t most = 14 << 20;
	size_t nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		size_t bytes;

		for (; nr < counts[i]; nr++)
			recording_add_task(&rec_, 101 + nr, "a{}", 1000);
		recording_finish(&rec_);
		open_pipe();
		assert_int_equal(pipe_.nr_lanes, nr);
		assert_int_equal(pipe_.event_blocks.base != NULL, nr >= 32);
		assert_int_equal(pipe_.buffer_blocks.base != NULL, nr >= 32);
		bytes = pipe_.batch * nr * sizeof(struct event);
		assert_true(bytes <= most);
		assert_true(pipe_.batch == EVENT_BATCH || bytes + nr * sizeof(struct event) > most);
		close_pipe();
	}
	assert_true(nr == 500);
}

/*
 * Add a task with 30000 calls of depth @depth. If the records are packed, each block has 50000
 * bytes.
 */
static void add_long_task(unsigned depth, bool is_packed)
{
	struct strbuf bytes cleanup_strbuf = { 0 };

	recording_add_task(&rec_, 100, "", 1000);
	for (unsigned i = 0; i < 60000; i++)
		recording_put(&rec_, &bytes, 1000 + 10 * i,
			      record_data(i % 2 ? RECORD_EXIT : RECORD_ENTRY, depth, 0x401000));
	recording_finish(&rec_);
	recording_add_file(&rec_, "100.dat", bytes.data, bytes.len);
	if (is_packed)
		recording_pack(&rec_, 100, 50000);
}

/* Records before a time range are skipped, unless calls that are open there must be found. */
TEST_WITH(starts_of_ranges, setup_open, teardown_open)
{
	static const struct {
		unsigned depth;
		bool is_packed, has_start, opens_at_start, opens_inherited;
		bool skips, has_begun;
	} rows[] = {
		{ 0, false, true, false, false, true, false },
		{ 0, false, false, false, false, false, false },
		{ 0, false, true, true, false, false, false },
		{ 0, false, true, false, true, false, false },
		{ 0, true, true, false, false, true, false },
		{ 0, true, true, true, false, true, true },
		{ 0, true, true, true, true, true, true },
		{ 0, true, true, false, true, false, false },
		{ 0, true, false, true, false, false, false },
		/* Without the task's first record, the calls around the task cannot be found. */
		{ 2, true, true, true, false, false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct lane *lane;

		if (i) {
			teardown_open(state);
			setup_open(state);
		}
		add_long_task(rows[i].depth, rows[i].is_packed);
		config.range.start.is_set = rows[i].has_start;
		config.range.start.time_ns = 590000;
		config.stages.opens_at_start = rows[i].opens_at_start;
		config.stages.opens_inherited = rows[i].opens_inherited;
		open_pipe();
		lane = &pipe_.lanes[0];
		assert_int_equal(lane->user.next_offset > 0, rows[i].skips);
		assert_int_equal(lane->has_begun, rows[i].has_begun);
		assert_int_equal(lane->user.end_offset, data_.tasks[0].data_bytes);
		assert_true(lane->user.fd >= 0);
		close_pipe();
	}
}
