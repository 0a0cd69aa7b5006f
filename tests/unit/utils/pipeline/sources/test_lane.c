/*
 * Members that a lane adds to each event: time, depth, and how much of the file was read by then.
 */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/events.h"
#include "tests/unit/lib/read/kernel_page.h"
#include "tests/unit/lib/read/recording.h"
#include "utils/format/bytes.h"

struct seen {
	struct strbuf text;
	enum event_type type;
};

/* Write "<time>@<depth> " for each event of a type. */
static int write_one_type(void *self, const struct event_span *span, struct uft_err *err)
{
	struct seen *seen = self;

	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];

		if (event->type == seen->type)
			strbuf_addf(&seen->text, "%llu@%u ", (unsigned long long)event->time_ns,
				    event->depth);
	}
	return 0;
}

struct scene {
	struct recording rec;
	struct pipeline_config config;
	struct strbuf perf;
};

static void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	recording_init(&s->rec);
	pipeline_config_init(&s->config);
	s->config.stages.wants = STAGE_WANTS_DEPTHS;
}

/* Check the events of @type. At the end all files must have been read once. */
static void end(struct scene *s, enum event_type type, const char *expected)
{
	struct seen seen = { .type = type };
	struct trace_data data;
	struct pipeline pipe;
	uint64_t bytes = 0;

	recording_finish(&s->rec);
	if (s->perf.len)
		recording_add_file(&s->rec, "perf-cpu0.dat", s->perf.data, s->perf.len);
	assert_int_equal(data_open(&data, s->rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(pipeline_open(&pipe, &data, &s->config, NULL), 0);
	assert_int_equal(atomic_load(&pipe.read_bytes), 0);
	assert_int_equal(pipeline_run(&pipe,
				      &(struct view){ .events = write_one_type, .self = &seen },
				      NULL),
			 0);
	assert_string_equal(strbuf_str(&seen.text), expected);
	for (size_t i = 0; i < data.nr_tasks; i++)
		bytes += data.tasks[i].data_bytes;
	assert_true(bytes > 0);
	assert_int_equal(atomic_load(&pipe.read_bytes), bytes);
	pipeline_close(&pipe);
	data_close(&data);
	recording_deinit(&s->rec);
	strbuf_deinit(&seen.text);
	strbuf_deinit(&s->perf);
}

TEST(losses_have_the_time_of_what_is_before)
{
	struct scene s;

	begin(&s);
	recording_add_task(&s.rec, 100, "a{!b{ }!!}", 1000);
	end(&s, EVENT_LOST, "1000@1 2020@1 2020@1 ");
	/* A loss that is the first event has the time of the event after it. */
	begin(&s);
	recording_add_task(&s.rec, 100, "!a{}", 1000);
	s.config.stages.show_outside = true;
	end(&s, EVENT_LOST, "1000@0 ");
}

TEST(depths_of_the_scheduler)
{
	static const struct {
		const char *tree;
		bool show_libcalls;
		const char *expected;
	} cases[] = {
		{ "a{ }", true, "1500@1 " },
		{ "a{b{ }}", true, "1500@2 " },
		{ "a{b{ }}", false, "1500@2 " },
		{ "a{ }", false, "1500@1 " },
		{ "A{ }", true, "1500@1 " },
		/*
		 * Events in an outermost library call that is not shown are at depth 0. All other
		 * calls count.
		 */
		{ "A{ }", false, "1500@0 " },
		{ "a{B{ }}", false, "1500@2 " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scene s;

		begin(&s);
		recording_add_task(&s.rec, 100, cases[i].tree, 1000);
		perf_add_sched(&s.perf, 'o', 100, 1500);
		perf_add_sched(&s.perf, 'i', 100, 1600);
		s.config.stages.show_libcalls = cases[i].show_libcalls;
		end(&s, EVENT_SCHED_OUT, cases[i].expected);
	}
}

/* Add a perf record about task 100: of type 7 for a new task, of type 3 for a name. */
static void add_sign(struct strbuf *perf, uint32_t type, uint64_t time_ns)
{
	uint8_t bytes[48] = { 0 };
	const size_t trailer = sizeof(bytes) - 16;

	put_u32(bytes, type, false);
	put_u16(bytes + 6, sizeof(bytes), false);
	if (type == 7) {
		put_u32(bytes + 8, 100, false);
		put_u32(bytes + 16, 100, false);
		put_u64(bytes + 24, time_ns, false);
	} else {
		put_u32(bytes + 8, 100, false);
		put_u32(bytes + 12, 100, false);
		memcpy(bytes + 16, "name", 5);
	}
	put_u32(bytes + trailer, 100, false);
	put_u32(bytes + trailer + 4, 100, false);
	put_u64(bytes + trailer + 8, time_ns, false);
	strbuf_add(perf, bytes, sizeof(bytes));
}

/* Facts about tasks apart from their calls. They are counted before anything is shown. */
TEST(surveys)
{
	struct trace_data data;
	struct pipeline pipe;
	struct scene s;

	begin(&s);
	recording_add_task(&s.rec, 100, "a{}", 1000);
	recording_add_task(&s.rec, 101, "a{}", 1000);
	recording_finish(&s.rec);
	perf_add_sched(&s.perf, 'i', 100, 900);
	add_sign(&s.perf, 7, 1000);
	add_sign(&s.perf, 3, 1100);
	perf_add_sched(&s.perf, 'o', 100, 1200);
	perf_add_sched(&s.perf, 'i', 100, 1300);
	perf_add_sched(&s.perf, 'o', 100, 1400);
	perf_add_sched(&s.perf, 'i', 100, 1500);
	recording_add_file(&s.rec, "perf-cpu0.dat", s.perf.data, s.perf.len);
	assert_int_equal(data_open(&data, s.rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(pipeline_open(&pipe, &data, &s.config, NULL), 0);
	assert_int_equal(pipe.surveys[0].nr, 7);
	assert_int_equal(pipe.surveys[0].first_ns, 900);
	assert_int_equal(pipe.surveys[0].first_sign_ns, 1000);
	assert_int_equal(pipe.surveys[0].first_back_ns, 1300);
	assert_int_equal(pipe.surveys[1].nr, 0);
	assert_int_equal(pipe.surveys[1].bytes, 0);
	assert_int_equal(pipe.surveys[1].first_ns, UINT64_MAX);
	assert_int_equal(pipe.surveys[1].first_sign_ns, UINT64_MAX);
	assert_int_equal(pipe.surveys[1].first_back_ns, UINT64_MAX);
	pipeline_close(&pipe);
	data_close(&data);
	recording_deinit(&s.rec);
	strbuf_deinit(&s.perf);
}

/* The records are so many that they come in several pieces. */
TEST(progress)
{
	char tree[3000];
	struct scene s;

	begin(&s);
	for (size_t i = 0; i < sizeof(tree) - 3; i += 3)
		memcpy(tree + i, "a{}", 4);
	for (int tid = 100; tid < 105; tid++)
		recording_add_task(&s.rec, tid, tree, 1000 + tid);
	end(&s, EVENT_LOST, "");
}

/* --- all members of events --- */

static int write_all(void *self, const struct event_span *span, struct uft_err *err)
{
	for (size_t i = 0; i < span->nr; i++) {
		struct event event = span->events[i];

		/* At an ENTRY the duration is not known yet. */
		if (event.type == EVENT_ENTRY)
			event.total_ns = event.self_ns = 0;
		events_put(&event, 1, self);
	}
	return 0;
}

static void dump(const struct recording *rec, const struct pipeline_config *config,
		 struct strbuf *out)
{
	struct trace_data data;
	struct pipeline pipe;

	assert_int_equal(data_open(&data, rec->dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(pipeline_open(&pipe, &data, config, NULL), 0);
	assert_int_equal(
		pipeline_run(&pipe, &(struct view){ .events = write_all, .self = out }, NULL), 0);
	pipeline_close(&pipe);
	data_close(&data);
}

/* Check that a compact file has the same events, in blocks of any size. */
static void check_packed(struct recording *rec, struct pipeline_config *config,
			 const char *expected)
{
	static const size_t sizes[] = { 16, 48, 4096 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		recording_pack(rec, 100, sizes[i]);
		for (unsigned k = 0; k < 2; k++) {
			struct strbuf out cleanup_strbuf = { 0 };

			config->order = k ? PIPELINE_BY_TASK : PIPELINE_BY_TIME;
			dump(rec, config, &out);
			assert_string_equal(strbuf_str(&out), expected);
		}
	}
}

/*
 * Check one task with calls @tree, off the CPU from 1505 to 1525 and from 2035 on. By time, the
 * result must be the same as by task.
 */
static void check_all(const char *tree, struct pipeline_config *config, const char *expected)
{
	struct strbuf by_time cleanup_strbuf = { 0 };
	struct strbuf by_task cleanup_strbuf = { 0 };
	struct strbuf perf cleanup_strbuf = { 0 };
	struct recording rec;

	recording_init(&rec);
	recording_add_task(&rec, 100, tree, 1000);
	recording_finish(&rec);
	perf_add_sched(&perf, 'o', 100, 1505);
	perf_add_sched(&perf, 'i', 100, 1525);
	perf_add_sched(&perf, 'p', 100, 2035);
	recording_add_file(&rec, "perf-cpu0.dat", perf.data, perf.len);
	config->order = PIPELINE_BY_TIME;
	dump(&rec, config, &by_time);
	config->order = PIPELINE_BY_TASK;
	dump(&rec, config, &by_task);
	assert_string_equal(strbuf_str(&by_time), expected);
	assert_string_equal(strbuf_str(&by_time), strbuf_str(&by_task));
	check_packed(&rec, config, expected);
	recording_deinit(&rec);
}

/* a{ at 1000, b{ at 1010, b} at 2020, c{ at 2030, c} at 2040, a} at 2050 */
#define TREE "a{b{ }c{}}"

static struct pipeline_config range_of(uint64_t start_ns, uint64_t stop_ns)
{
	struct pipeline_config config;

	pipeline_config_init(&config);
	config.stages.wants = STAGE_WANTS_DEPTHS;
	config.range.start = (struct range_edge){ .time_ns = start_ns, .is_set = start_ns };
	config.range.stop = (struct range_edge){ .time_ns = stop_ns, .is_set = stop_ns };
	return config;
}

TEST(a_task_as_it_is)
{
	struct pipeline_config config = range_of(0, 0);

	check_all(TREE, &config,
		  "a{@1000.0 b{@1010.1 ~@1505.2(linux:schedule) ^@1525.2=20/20(linux:schedule) "
		  "b}@2020.1=1010/990 c{@2030.1 ~@2035.2(linux:schedule (pre-empted))P "
		  "c}@2040.1=10/10 a}@2050.0=1050/30");
	config.stages.closes_open_calls = true;
	check_all("a{b{ }c{", &config,
		  "a{@1000.0 b{@1010.1 ~@1505.2(linux:schedule) ^@1525.2=20/20(linux:schedule) "
		  "b}@2020.1=1010/990 c{@2030.1 ~@2035.2(linux:schedule (pre-empted))P "
		  "c}@2035.1=5/5F a}@2035.0=1035/20F");
	config.stages.wants = STAGE_WANTS_ENDS;
	check_all("a{b{ }c{", &config,
		  "a{@1000.0 b{@1010.1 ~@1505.2:0(linux:schedule) ^@1525.2:0=20/20(linux:schedule) "
		  "b}@2020.1=1010/990 c{@2030.1 ~@2035.2:0(linux:schedule (pre-empted))P "
		  "c}@2035.1=5/5F a}@2035.0=1035/20F");
	config.stages.time_filter_ns = 20;
	check_all("a{b{ }c{", &config,
		  "a{@1000.0 b{@1010.1 ~@1505.2:0(linux:schedule) ^@1525.2:0=20/20(linux:schedule) "
		  "b}@2020.1=1010/990 c{@2030.1 ~@2035.2:0(linux:schedule (pre-empted))P "
		  "c}@2035.1=5/5F a}@2035.0=1035/25F");
	config.stages.wants = STAGE_WANTS_DEPTHS;
	check_all("a{b{ }c{", &config,
		  "a{@1000.0 b{@1010.1 ~@1505.2(linux:schedule) ^@1525.2=20/20(linux:schedule) "
		  "b}@2020.1=1010/990 c{@2030.1 ~@2035.2(linux:schedule (pre-empted))P "
		  "c}@2035.1=5/5F a}@2035.0=1035/25F");
}

TEST(a_range_cuts_both_ends)
{
	struct pipeline_config config = range_of(1505, 2035);

	check_all(TREE, &config,
		  "b}@2020.0:1=20/20UI c{@2030.0:1 ~@2035.1:2(linux:schedule (pre-empted))P");
	config = range_of(1506, 2034);
	check_all(TREE, &config, "b}@2020.0:1UI c{@2030.0:1");
	config = range_of(2020, 2030);
	check_all(TREE, &config, "b}@2020.0:1URI c{@2030.0:1");
	config = range_of(5000, 6000);
	check_all(TREE, &config, "");
}

/* Calls that are open at an edge of the range begin or end there. */
TEST(calls_that_are_open_at_the_edges)
{
	struct pipeline_config config = range_of(1505, 2035);

	config.stages.opens_at_start = true;
	config.stages.closes_open_calls = true;
	check_all(TREE, &config,
		  "a{@1505.0 b{@1505.1 ~@1505.2(linux:schedule) ^@1525.2=20/20(linux:schedule) "
		  "b}@2020.1=515/495 c{@2030.1 ~@2035.2(linux:schedule (pre-empted))P "
		  "^@2035.2(linux:schedule (pre-empted))P c}@2035.1=5/5F a}@2035.0=530/10F");
	config = range_of(1515, 2034);
	config.stages.opens_at_start = true;
	config.stages.closes_open_calls = true;
	check_all(TREE, &config,
		  "a{@1515.0 b{@1515.1 ~@1515.2(linux:schedule) ^@1525.2=10/10(linux:schedule) "
		  "b}@2020.1=505/495 c{@2030.1 c}@2034.1=4/4F a}@2034.0=519/10F");
	config.stages.time_filter_ns = 15;
	check_all(
		TREE, &config,
		"a{@1515.0 b{@1515.1 b}@2020.1=505/505 c{@2030.1 c}@2034.1=4/4F a}@2034.0=519/14F");
	config = range_of(1010, 2040);
	config.stages.opens_at_start = true;
	config.stages.closes_open_calls = true;
	check_all(TREE, &config,
		  "a{@1010.0 b{@1010.1 ~@1505.2(linux:schedule) ^@1525.2=20/20(linux:schedule) "
		  "b}@2020.1=1010/990 c{@2030.1 ~@2035.2(linux:schedule (pre-empted))P "
		  "c}@2040.1=10/10 ^@2040.1=5/5(linux:schedule (pre-empted))P a}@2040.0=1030/5F");
}

/* --- what a lane remembers --- */

static int see(void *self, const struct event_span *span, struct uft_err *err)
{
	size_t *nr = self;

	*nr += span->nr;
	return 0;
}

/* A view without events can tell whether there were events that filters have dropped. */
TEST(events_that_were_there)
{
	static const struct {
		const char *tree;
		uint64_t start_ns;
		uint64_t time_ns;
		const char *filter, *trigger;
		bool has_events, has_passed, has_shown;
		size_t nr;
	} rows[] = {
		{ "a{b{}}", 0, 0, NULL, NULL, true, false, true, 4 },
		{ "a{b{}}", 5000, 0, NULL, NULL, false, false, false, 0 },
		{ "a{b{}}", 0, 0, "!a", NULL, true, false, false, 0 },
		{ "a{b{}}", 0, 30, NULL, NULL, true, true, true, 2 },
		{ "a{b{}}", 0, 31, NULL, NULL, true, false, false, 0 },
		{ "a{*}", 0, 500, NULL, NULL, true, true, true, 3 },
		{ "a{}", 0, 0, NULL, "a@trace_off", true, false, false, 0 },
		{ "a{b{}}", 0, 0, NULL, "b@trace_off", true, false, true, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filters filters cleanup_filters = { 0 };
		struct pipeline_config config;
		struct trace_data data;
		struct pipeline pipe;
		struct recording rec;
		size_t nr = 0;

		pipeline_config_init(&config);
		if (rows[i].filter)
			assert_int_equal(filters_add(&filters, SPEC_FILTER, MATCH_GLOB,
						     rows[i].filter, NULL),
					 0);
		if (rows[i].trigger)
			assert_int_equal(filters_add(&filters, SPEC_TRIGGER, MATCH_GLOB,
						     rows[i].trigger, NULL),
					 0);
		assert_int_equal(filters_prepare(&filters, NULL), 0);
		config.stages.filters = &filters;
		config.stages.time_filter_ns = rows[i].time_ns;
		config.range.start.is_set = rows[i].start_ns;
		config.range.start.time_ns = rows[i].start_ns;
		recording_init(&rec);
		recording_add_task(&rec, 100, rows[i].tree, 1000);
		recording_finish(&rec);
		assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
		assert_int_equal(pipeline_open(&pipe, &data, &config, NULL), 0);
		assert_int_equal(
			pipeline_run(&pipe, &(struct view){ .events = see, .self = &nr }, NULL), 0);
		assert_int_equal(nr, rows[i].nr);
		assert_int_equal(pipe.lanes[0].has_events, rows[i].has_events);
		assert_int_equal(pipe.lanes[0].has_passed, rows[i].has_passed);
		assert_int_equal(atomic_load(&pipe.has_shown), rows[i].has_shown);
		assert_int_equal(pipe.lanes[0].state, LANE_FINISHED);
		assert_null(pipe.lanes[0].events);
		assert_null(pipe.lanes[0].raw);
		assert_int_equal(pipe.lanes[0].batch, 0);
		assert_int_equal(pipe.lanes[0].user.fd, -1);
		pipeline_close(&pipe);
		data_close(&data);
		recording_deinit(&rec);
	}
}

/* After a stop request, a lane ends with the batch that it reads. Open calls are closed. */
TEST(lanes_that_are_stopped)
{
	struct strbuf tree cleanup_strbuf = { 0 };
	struct recording rec;

	for (unsigned i = 0; i < EVENT_BATCH; i++)
		strbuf_addstr(&tree, i ? "b{}" : "a{");
	recording_init(&rec);
	recording_add_task(&rec, 100, strbuf_str(&tree), 1000);
	recording_finish(&rec);
	for (unsigned i = 0; i < 4; i++) {
		struct pipeline_config config;
		struct trace_data data;
		struct pipeline pipe;
		size_t nr = 0;

		if (i == 2)
			recording_pack(&rec, 100, 1 << 14);
		pipeline_config_init(&config);
		config.order = PIPELINE_BY_TASK;
		config.stages.closes_open_calls = i & 1;
		assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
		assert_int_equal(pipeline_open(&pipe, &data, &config, NULL), 0);
		atomic_store(&pipe.is_stopped, true);
		assert_int_equal(
			pipeline_run(&pipe, &(struct view){ .events = see, .self = &nr }, NULL), 0);
		assert_int_equal(nr, EVENT_BATCH + (i & 1 ? 2 : 0));
		assert_int_equal(pipe.lanes[0].state, LANE_FINISHED);
		pipeline_close(&pipe);
		data_close(&data);
	}
	recording_deinit(&rec);
}

/* --- calls of the kernel at the edges of a range --- */

/* Add, in task 100: a call at 1201, one in it from 1211 to 1221, its end at 1231, and one more. */
static void add_kernel_calls(struct recording *rec)
{
	static const char format[] = "\tfield:x func;\toffset:8;\tsize:8;\n"
				     "\tfield:x depth;\toffset:16;\tsize:4;\n";
	static const struct {
		unsigned delta;
		uint16_t id;
		uint32_t words[3];
	} calls[] = {
		{ 1, 11, { 0x1000, 0xffffffff, 0 } },  { 10, 11, { 0x2000, 0xffffffff, 1 } },
		{ 10, 12, { 0x2000, 0xffffffff, 1 } }, { 10, 12, { 0x1000, 0xffffffff, 0 } },
		{ 10, 11, { 0x3000, 0xffffffff, 0 } }, { 10, 12, { 0x3000, 0xffffffff, 0 } },
	};
	struct kernel_layout layout = { KERNEL_PAGE_BYTES, 8, false };
	struct strbuf header cleanup_strbuf = { 0 };
	struct kernel_page_maker page;

	kernel_header_put_layout(&header, &layout);
	for (unsigned id = 11; id <= 12; id++) {
		struct strbuf text cleanup_strbuf = { 0 };

		strbuf_addf(&text, "ID: %u\n%s", id, format);
		kernel_header_put_file(&header,
				       id == 11 ? "events/ftrace/funcgraph_entry/format"
						: "events/ftrace/funcgraph_exit/format",
				       text.data, text.len);
	}
	recording_add_file(rec, "kernel_header", header.data, header.len);
	kernel_page_begin(&page, 1200, 8, false);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		kernel_page_record(&page, calls[i].delta, calls[i].id, 100, calls[i].words, 3);
	kernel_page_end(&page, 0);
	recording_add_file(rec, "kernel-cpu0.dat", page.bytes, sizeof(page.bytes));
}

/* Writes "{" and "}" for calls of the program, and "[" and "]" for those of the kernel. */
static int write_brackets(void *self, const struct event_span *span, struct uft_err *err)
{
	for (size_t i = 0; i < span->nr; i++) {
		bool is_exit = span->events[i].type == EVENT_EXIT;

		strbuf_addch(self, event_is_kernel_call(&span->events[i]) ? "[]"[is_exit]
									  : "{}"[is_exit]);
	}
	return 0;
}

/*
 * The end of a call of the kernel that began before the range is left out. The calls inside of this
 * call are shown.
 */
TEST(calls_of_the_kernel_before_a_range)
{
	static const struct {
		uint64_t start_ns, stop_ns;
		const char *expected, *opened;
	} rows[] = {
		{ 0, 0, "{[[]][]}", "{[[]][]}" }, { 1201, 0, "[[]][]}", "{[[]][]}" },
		{ 1202, 0, "[][]}", "{[][]}" },	  { 1211, 0, "[][]}", "{[][]}" },
		{ 1212, 0, "[]}", "{[]}" },	  { 1222, 0, "[]}", "{[]}" },
		{ 1232, 0, "[]}", "{[]}" },	  { 1242, 0, "}", "{}" },
		{ 1202, 1241, "[][", "{[][" },	  { 1202, 1240, "[]", "{[]" },
		{ 1252, 0, "}", "{}" },
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		const size_t row = i / 2;
		struct strbuf out cleanup_strbuf = { 0 };
		struct pipeline_config config;
		struct trace_data data;
		struct pipeline pipe;
		struct recording rec;

		pipeline_config_init(&config);
		config.stages.opens_at_start = i % 2;
		config.range.start.is_set = rows[row].start_ns;
		config.range.start.time_ns = rows[row].start_ns;
		config.range.stop.is_set = rows[row].stop_ns;
		config.range.stop.time_ns = rows[row].stop_ns;
		recording_init(&rec);
		recording_add_task(&rec, 100, "a{ }", 1000);
		add_kernel_calls(&rec);
		recording_finish(&rec);
		assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
		assert_int_equal(pipeline_open(&pipe, &data, &config, NULL), 0);
		assert_int_equal(
			pipeline_run(&pipe,
				     &(struct view){ .events = write_brackets, .self = &out },
				     NULL),
			0);
		assert_string_equal(strbuf_str(&out),
				    i % 2 ? rows[row].opened : rows[row].expected);
		pipeline_close(&pipe);
		data_close(&data);
		recording_deinit(&rec);
	}
}
