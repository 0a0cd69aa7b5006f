/*
 * Pieces of a task: reading the pieces one after the other gives the same as reading the whole
 * task.
 */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/kernel_page.h"
#include "tests/unit/lib/read/recording.h"
#include "utils/format/calls/compact.h"
#include "utils/format/record.h"
#include "utils/pipeline/sources/split.h"

static struct recording rec;
static struct pipeline_config config;
static struct trace_data data;
static struct pipeline pipe_;
static struct strbuf whole;
static struct strbuf parts;

static int setup(void **state)
{
	recording_init(&rec);
	pipeline_config_init(&config);
	config.order = PIPELINE_BY_TASK;
	config.stages.closes_open_calls = true;
	config.stages.wants = STAGE_WANTS_DEPTHS;
	config.stages.show_outside = true;
	return 0;
}

static int teardown(void **state)
{
	recording_deinit(&rec);
	strbuf_deinit(&whole);
	strbuf_deinit(&parts);
	return 0;
}

/* The calls that were shown and have not ended yet. */
struct open_calls {
	const char *names[64];
	size_t nr;
};

static struct open_calls open_calls;

static void follow_calls(const struct event *event)
{
	if (event->type == EVENT_ENTRY)
		open_calls.names[open_calls.nr++] = event->func->name;
	else if (event->type == EVENT_EXIT && open_calls.nr)
		open_calls.nr--;
}

/* Write all members of events, one event in a line. */
static int write_events(void *self, const struct event_span *span, struct uft_err *err)
{
	for (size_t i = 0; i < span->nr; i++) {
		const struct event *event = &span->events[i];
		bool has_times = event->type != EVENT_ENTRY;

		if (self == &parts)
			follow_calls(event);
		strbuf_addf(self, "%d %s at %d, %d %d: depth %d, indent %d, flags %d\n",
			    event->type, event->func ? event->func->name : "-", (int)event->time_ns,
			    has_times ? (int)event->total_ns : 0,
			    has_times ? (int)event->self_ns : 0, event->depth, event->indent,
			    event->flags);
	}
	return 0;
}

/*
 * If a view needs entries, a piece begins within the calls that earlier pieces have shown and not
 * ended.
 */
static int note_path(void *self, const struct view_resume *at, struct uft_err *err)
{
	assert_non_null(at->task);
	for (size_t i = 0; i < at->nr_path; i++)
		assert_non_null(at->path[i]);
	if (config.stages.wants == STAGE_WANTS_ENDS)
		return 0;
	assert_int_equal(at->nr_path, open_calls.nr);
	for (size_t i = 0; i < at->nr_path; i++)
		assert_string_equal(at->path[i]->name, open_calls.names[i]);
	return 0;
}

struct row {
	const struct view *view;
	size_t nr;
};

static void run_piece(void *arg, struct piece *piece)
{
	struct row *row = arg;

	assert_int_equal(piece_run(piece, 0, row->view, NULL), 0);
	piece_destroy(piece);
	row->nr++;
}

static void open_pipe(void)
{
	assert_int_equal(data_open(&data, rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	assert_int_equal(pipeline_open(&pipe_, &data, &config, NULL), 0);
	assert_int_equal(pipeline_load_group(&pipe_, 0, NULL), pipe_.nr_lanes);
}

static void close_pipe(void)
{
	pipeline_close(&pipe_);
	data_close(&data);
}

/*
 * Splits the first task into pieces of about @piece_bytes, and compares the events. Returns the
 * number of pieces.
 */
static size_t split_into(uint64_t piece_bytes)
{
	const struct view view = { write_events, &parts, note_path };
	struct row row = { .view = &view };
	struct piece *last;

	open_pipe();
	strbuf_reset(&parts);
	open_calls.nr = 0;
	assert_true(lane_can_split(&pipe_.lanes[0]));
	assert_int_equal(
		lane_split(&pipe_.lanes[0], UINT64_MAX, piece_bytes, run_piece, &row, &last, NULL),
		0);
	run_piece(&row, last);
	close_pipe();
	assert_string_equal(strbuf_str(&parts), strbuf_str(&whole));
	return row.nr;
}

static void read_whole(struct strbuf *out)
{
	const struct view view = { write_events, out };

	open_pipe();
	strbuf_reset(out);
	assert_int_equal(lane_run(&pipe_.lanes[0], &view, NULL), 0);
	close_pipe();
}

/*
 * Splits the records in all ways, and compares the events. Returns the number of pieces when each
 * has one record.
 */
static size_t split_all(void)
{
	size_t nr = split_into(16);

	for (uint64_t bytes = 24; bytes < 400; bytes += 8)
		split_into(bytes);
	return nr;
}

/* Check plain records, and compact blocks that have a few records each, or all of them. */
static size_t check_records(void)
{
	static const size_t block_bytes[] = { 16, 48, 112, COMPACT_RAW_MAX };
	size_t nr;

	recording_finish(&rec);
	read_whole(&whole);
	nr = split_all();
	for (size_t i = 0; i < ARRAY_SIZE(block_bytes); i++) {
		struct strbuf compact cleanup_strbuf = { 0 };

		/* A block cannot end between a record and its payload. */
		if (rec.features & FEAT_ARGUMENT && block_bytes[i] < COMPACT_RAW_MAX)
			continue;
		recording_pack(&rec, 100, block_bytes[i]);
		read_whole(&compact);
		assert_string_equal(strbuf_str(&compact), strbuf_str(&whole));
		assert_int_equal(split_all(), nr);
	}
	return nr;
}

static size_t check(const char *tree)
{
	recording_add_task(&rec, 100, tree, 1000);
	return check_records();
}

TEST_WITH(calls, setup, teardown)
{
	assert_int_equal(check("a{b{}c{d{}}}e{}"), 10 + 1);
}

TEST_WITH(recursion, setup, teardown)
{
	assert_int_equal(check("a{a{b{a{}}a{}}}b{b{a{}}}"), 16 + 1);
}

TEST_WITH(calls_that_do_not_return, setup, teardown)
{
	check("a{b{c{}d{");
}

TEST_WITH(events, setup, teardown)
{
	check("a{*b{*}*c{}*}*d{*}");
}

/* Events of the kernel are in files of their own. */
TEST_WITH(kernel_events, setup, teardown)
{
	static const char header[] = "PAGE_SIZE: 4096\nLONG_SIZE: 8\nENDIAN: LE\n";
	struct kernel_page_maker page;

	kernel_page_begin(&page, 995, 8, false);
	for (unsigned i = 0; i < 30; i++)
		kernel_page_record(&page, 7, 7, 100, NULL, 0);
	kernel_page_end(&page, 0);
	recording_add_file(&rec, "kernel_header", header, sizeof(header) - 1);
	recording_add_file(&rec, "kernel-cpu0.dat", page.bytes, sizeof(page.bytes));
	assert_int_equal(check("a{b{}c{d{}}}e{}"), 10 + 1);
	assert_non_null(strstr(strbuf_str(&whole), "\n3 - at 1002"));
}

/* After exec, addresses have other meanings, even in the middle of a block. */
TEST_WITH(another_program, setup, teardown)
{
	static const char map[] = "400000-500000 r-xp 00000000 00:00 0 /x/other\n";
	static const char syms[] = "# path name: /x/other\n1000 400 T other\n";

	strbuf_addstr(&rec.task_txt, "SESS timestamp=0.000001065 pid=100 sid=fedcba9876543210 "
				     "exename=\"/x/other\"\n");
	recording_add_file(&rec, "sid-fedcba9876543210.map", map, strlen(map));
	recording_add_file(&rec, "other.sym", syms, strlen(syms));
	check("a{b{}b{}}e{}b{b{}b{}b{}}");
	assert_non_null(strstr(strbuf_str(&whole), " e at 1060"));
	assert_non_null(strstr(strbuf_str(&whole), " other at 1070"));
}

/* After a loss it is uncertain which calls are open. */
TEST_WITH(lost_records, setup, teardown)
{
	assert_int_equal(check("a{b{}c{!1d{})x}e{}"), 5);
}

TEST_WITH(a_task_that_begins_within_calls, setup, teardown)
{
	assert_int_equal(check("2)ba{b{}}"), 1);
}

TEST_WITH(returns_that_belong_to_nothing, setup, teardown)
{
	assert_int_equal(check("a{b{)c}d{e{}}"), 3);
}

/* When time goes backwards the order is uncertain, but the events must be the same. */
TEST_WITH(time_goes_backwards, setup, teardown)
{
	static const char calls[] = "a{b{}c{}}";
	static const uint64_t times[] = { 1000, 1010, 1020, 1015, 1025, 1035 };
	struct strbuf file cleanup_strbuf = { 0 };
	uint64_t open[8];
	size_t depth = 0;
	size_t nr = 0;

	recording_add_task(&rec, 100, "", 1000);
	for (const char *p = calls; *p; p++) {
		if (*p == '{')
			continue;
		if (*p == '}') {
			depth--;
			recording_put(&rec, &file, times[nr++],
				      record_data(RECORD_EXIT, depth, open[depth]));
			continue;
		}
		open[depth] = 0x401004 + (*p - 'a') * 0x40;
		recording_put(&rec, &file, times[nr++],
			      record_data(RECORD_ENTRY, depth, open[depth]));
		depth++;
	}
	assert_int_equal(nr, ARRAY_SIZE(times));
	recording_add_file(&rec, "100.dat", file.data, file.len);
	assert_int_equal(check_records(), 4);
}

/* Bytes of a payload are not taken for a record, so no piece begins there. */
TEST_WITH(payloads, setup, teardown)
{
	const uint64_t a = 0x401004, b = a + 0x40;
	const uint64_t payload = record_data(RECORD_ENTRY, 1, b);
	struct strbuf file cleanup_strbuf = { 0 };
	uint64_t now_ns = 1000;

	recording_add_task(&rec, 100, "", 1000);
	rec.features = FEAT_ARGUMENT;
	recording_put(&rec, &file, now_ns, record_data(RECORD_ENTRY, 0, a));
	for (int i = 0; i < 5; i++) {
		recording_put(&rec, &file, now_ns += 10, record_data(RECORD_ENTRY, 1, b));
		recording_put(&rec, &file, now_ns += 10, record_data(RECORD_EXIT, 1, b));
		recording_put(&rec, &file, now_ns += 10,
			      record_data(RECORD_ENTRY, 1, b) | RECORD_MORE);
		/* A time so long ago is not that of a record. */
		recording_put(&rec, &file, 5, payload);
		recording_put(&rec, &file, now_ns += 10, record_data(RECORD_EXIT, 1, b));
	}
	recording_put(&rec, &file, now_ns += 10, record_data(RECORD_EXIT, 0, a));
	recording_add_file(&rec, "100.dat", file.data, file.len);
	check_records();
	/* All ten calls of function b were within the call of function a. */
	assert_non_null(strstr(strbuf_str(&whole), "1 a at 1210, 210 110"));
}

TEST_WITH(selected_calls, setup, teardown)
{
	config.stages.show_libcalls = false;
	config.stages.depth = 3;
	assert_int_equal(check("a{B{c{d{e{}}}}}a{b{c{D{}}}}"), 18 + 1);
}

TEST_WITH(ends_only, setup, teardown)
{
	config.stages.wants = STAGE_WANTS_ENDS;
	check("a{B{c{d{e{*}}}}}a{b{c{D{}}}}");
}

TEST_WITH(some_stages_remember_more, setup, teardown)
{
	recording_add_task(&rec, 100, "a{}", 1000);
	recording_finish(&rec);
	config.stages.time_filter_ns = 1;
	open_pipe();
	assert_false(lane_can_split(&pipe_.lanes[0]));
	close_pipe();
}

TEST_WITH(times_off_the_cpu, setup, teardown)
{
	struct strbuf perf cleanup_strbuf = { 0 };

	for (uint64_t ns = 1002; ns < 1200; ns += 26) {
		perf_add_sched(&perf, ns % 4 ? 'o' : 'p', 100, ns);
		perf_add_sched(&perf, 'i', 100, ns + 15);
	}
	recording_add_file(&rec, "perf-cpu0.dat", perf.data, perf.len);
	check("a{b{}c{d{}}}e{f{a{}}}a{b{}c{d{}}}e{f{a{}}}");
}

/* Each of these properties keeps a task in one piece. */
TEST_WITH(tasks_that_stay_whole, setup, teardown)
{
	recording_add_task(&rec, 100, "a{b{}}", 1000);
	recording_finish(&rec);
	for (unsigned i = 0; i <= 14; i++) {
		static struct session session;
		static struct session other;
		struct session_ref refs[] = { { 0, &session }, { 1, &session }, { 2, &other } };
		struct lane *lane;
		struct task task;

		open_pipe();
		lane = &pipe_.lanes[0];
		task = *lane->task;
		assert_true(lane_can_split(lane));
		if (i == 0)
			pipe_.is_filtered = true;
		if (i == 1)
			lane->holds_back = true;
		if (i == 2)
			pipe_.config.stages.time_filter_ns = 1;
		if (i == 3)
			pipe_.config.stages.size_filter = 1;
		if (i == 4)
			lane->indent.drops_margin = true;
		if (i == 5)
			pipe_.start_ns = 1;
		if (i == 6)
			pipe_.stop_ns--;
		if (i == 7)
			pipe_.limit_ns--;
		if (i == 8)
			lane->streams = true;
		if (i == 9)
			lane->user.beside.may_be = true;
		if (i == 10)
			lane->user.is_swapped = true;
		if (i == 11)
			pipe_.surveys[task.index].nr_calls = 1;
		/*
		 * From 12 on, only the sessions of the task differ. A task may have two sessions,
		 * but not the same session twice.
		 */
		task.refs = i == 13 ? refs + 1 : refs;
		task.nr_refs = i == 12 ? 3 : i == 14 ? 1 : 2;
		if (i >= 12)
			lane->task = &task;
		assert_int_equal(lane_can_split(lane), i >= 13);
		pipe_.is_filtered = false;
		lane->task = data_task(&data, 100);
		close_pipe();
	}
}

static void count_piece(void *arg, struct piece *piece)
{
	struct row *row = arg;

	row->nr++;
	piece_destroy(piece);
}

/* Pieces are split off until they have the wanted bytes. The last piece has the task's rest. */
TEST_WITH(a_part_is_split, setup, teardown)
{
	static const struct {
		uint64_t bytes;
		uint64_t piece_bytes;
		size_t nr;
		uint64_t last_start;
	} rows[] = {
		{ 0, 32, 0, 0 },
		{ 32, 32, 0, 0 },
		{ 33, 32, 1, 32 },
		{ 64, 32, 1, 32 },
		{ 65, 32, 2, 64 },
		{ 96, 32, 2, 64 },
		{ 97, 32, 3, 96 },
		{ 160, 32, 4, 128 },
		{ 161, 32, 5, 160 },
		{ 100, 40, 2, 96 },
		{ UINT64_MAX, 160, 1, 160 },
		{ UINT64_MAX, 161, 0, 0 },
		{ UINT64_MAX, 80, 2, 160 },
	};

	recording_add_task(&rec, 100, "a{b{}c{d{}}}e{}", 1000);
	recording_finish(&rec);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct row row = { 0 };
		struct piece *last = NULL;

		open_pipe();
		assert_int_equal(lane_split(&pipe_.lanes[0], rows[i].bytes, rows[i].piece_bytes,
					    count_piece, &row, &last, NULL),
				 0);
		assert_int_equal(row.nr, rows[i].nr);
		assert_int_equal(last->start_offset, rows[i].last_start);
		assert_true(last->end_offset == UINT64_MAX);
		piece_destroy(last);
		close_pipe();
	}
}

/* After a request to stop, no more pieces are made. */
TEST_WITH(splitting_that_is_stopped, setup, teardown)
{
	struct row row = { 0 };
	struct piece *last = NULL;

	recording_add_task(&rec, 100, "a{b{}c{d{}}}e{}", 1000);
	recording_finish(&rec);
	open_pipe();
	atomic_store(&pipe_.is_stopped, true);
	assert_int_equal(
		lane_split(&pipe_.lanes[0], UINT64_MAX, 32, count_piece, &row, &last, NULL), 0);
	assert_int_equal(row.nr, 0);
	assert_int_equal(last->start_offset, 0);
	piece_destroy(last);
	close_pipe();
	piece_destroy(NULL);
}
