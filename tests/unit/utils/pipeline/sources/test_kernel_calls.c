/*
 * The kernel's calls of a task: they are nested correctly after any loss, and are merged with
 * records of a slightly different clock.
 */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/base/containers/strbuf.h"
#include "utils/pipeline/sources/kernel_calls.h"

#define IN(t, name, d)                                                            \
	{                                                                         \
		.time_ns = (t), .addr = (name), .depth = (d), .type = EVENT_ENTRY \
	}
#define OUT(t, name, d)                                                          \
	{                                                                        \
		.time_ns = (t), .addr = (name), .depth = (d), .type = EVENT_EXIT \
	}
#define LEAVES(t)                                       \
	{                                               \
		.time_ns = (t), .type = EVENT_SCHED_OUT \
	}
#define IS_BACK(t, cpu)                                                   \
	{                                                                 \
		.time_ns = (t), .data_len = (cpu), .type = EVENT_SCHED_IN \
	}
#define LOSS(t)                                    \
	{                                          \
		.time_ns = (t), .type = EVENT_LOST \
	}

/* The times of the task's records; 0 is the end. */
static const uint64_t *records;

static uint64_t records_next_ns(struct source *source)
{
	return *records ? *records : UINT64_MAX;
}

static void put(struct strbuf *out, const struct event *event)
{
	unsigned long long time_ns = event->time_ns;

	/* Entries and exits without an address are the program's own records. */
	if (event->type <= EVENT_EXIT && !event->addr) {
		strbuf_addf(out, "| ");
		return;
	}
	switch (event->type) {
	case EVENT_ENTRY:
		strbuf_addf(out, "%llu:%c{ ", time_ns, (char)event->addr);
		break;
	case EVENT_EXIT:
		strbuf_addf(out, "%llu:}%c ", time_ns, (char)event->addr);
		break;
	case EVENT_LOST:
		strbuf_addf(out, "%llu:lost ", time_ns);
		break;
	case EVENT_SCHED_OUT:
		strbuf_addf(out, "%llu:out ", time_ns);
		break;
	case EVENT_SCHED_IN:
		strbuf_addf(out, "%llu:in%u ", time_ns,
			    event->type == EVENT_SCHED_IN ? event->cpu : 0);
		break;
	}
}

#define RECORDS_MAX 8

/* Makes records at these @times, as they are in a file. Returns their number. */
static size_t put_records(const uint64_t *times, struct record *to)
{
	size_t nr = 0;

	for (; times[nr]; nr++) {
		assert_true(nr < RECORDS_MAX);
		to[nr] = (struct record){ times[nr], record_data(RECORD_ENTRY, 0, 0) };
	}
	return nr;
}

/*
 * Merges the kernel's calls with records as a lane does. For each record there are the events before
 * it, then the EXITs of all calls of the kernel that are still open, then the record ("|"). @max: the
 * number of events at a time. The caller frees the text.
 */
static char *walk(struct queued *events, size_t nr, const uint64_t *times, size_t max,
		  bool has_program, bool merges)
{
	static const struct source_ops ops = { .next_ns = records_next_ns };
	struct strbuf out = { 0 };
	struct queue queue = { .events = events, .nr = nr };
	struct queue_source queued = { .queue = &queue, .end = nr };
	struct record in_file[RECORDS_MAX];
	struct src_user user = {
		.source.ops = &ops,
		.buf = (uint8_t *)in_file,
		.len = put_records(times, in_file) * sizeof(*in_file),
		.file_ended = true,
	};
	struct session_ref ref = { 0 };
	struct task task = { .refs = &ref, .nr_refs = has_program };
	struct kernel_calls calls = { 0 };
	struct event got[8];
	ssize_t n;

	records = times;
	kernel_calls_init(&calls, &queued, &user, &task);
	for (;;) {
		while (merges && (n = kernel_calls_merge(&calls, got, max, UINT64_MAX)) > 0) {
			for (ssize_t i = 0; i < n; i++)
				put(&out, &got[i]);
			records = times + user.at / sizeof(*in_file);
		}

		uint64_t record_ns = records_next_ns(NULL);

		while (source_next_ns(&calls.source) < record_ns &&
		       (n = source_read(&calls.source, got, max, record_ns - 1, NULL)) > 0) {
			for (ssize_t i = 0; i < n; i++)
				put(&out, &got[i]);
		}
		if (record_ns == UINT64_MAX)
			break;
		while ((n = kernel_calls_return(&calls, record_ns, got, max))) {
			for (ssize_t i = 0; i < n; i++)
				put(&out, &got[i]);
		}
		strbuf_addf(&out, "| ");
		user.last_ns = record_ns;
		user.at += sizeof(*in_file);
		records++;
	}
	source_close(&calls.source);

	char *text = strdup(strbuf_str(&out));

	assert_non_null(text);
	strbuf_deinit(&out);
	return text;
}

static void check(struct queued *events, size_t nr, const uint64_t *times, const char *expected)
{
	for (size_t max = 1; max <= 8; max++) {
		for (int merges = 0; merges < 2; merges++) {
			char *text = walk(events, nr, times, max, true, merges);

			assert_string_equal(text, expected);
			free(text);
		}
	}
}

#define CHECK(expected, times, ...)                                   \
	do {                                                          \
		struct queued events_[] = { __VA_ARGS__ };            \
		check(events_, ARRAY_SIZE(events_), times, expected); \
	} while (0)
#define RECORDS(...) ((const uint64_t[]){ __VA_ARGS__ __VA_OPT__(, ) 0 })

TEST(nested)
{
	CHECK("10:a{ 20:b{ 30:}b 40:}a 50:c{ 60:}c ", RECORDS(), IN(10, 'a', 0), IN(20, 'b', 1),
	      OUT(30, 'b', 1), OUT(40, 'a', 0), IN(50, 'c', 0), OUT(60, 'c', 0));
	/* The kernel writes no depths in these records. */
	CHECK("10:a{ 20:b{ 30:}b 40:}a ", RECORDS(), IN(10, 'a', KERNEL_DEPTH_UNKNOWN),
	      IN(20, 'b', KERNEL_DEPTH_UNKNOWN), OUT(30, 'b', KERNEL_DEPTH_UNKNOWN),
	      OUT(40, 'a', KERNEL_DEPTH_UNKNOWN));
}

TEST(ends_without_beginning_are_left_out)
{
	CHECK("30:a{ 40:}a ", RECORDS(), OUT(10, 'x', 1), OUT(20, 'y', 0), IN(30, 'a', 0),
	      OUT(40, 'a', 0));
	CHECK("10:a{ 30:}a ", RECORDS(), IN(10, 'a', 0), OUT(20, 'x', 1), OUT(30, 'a', 0));
	CHECK("10:a{ 30:}a ", RECORDS(), IN(10, 'a', KERNEL_DEPTH_UNKNOWN),
	      OUT(20, 'x', KERNEL_DEPTH_UNKNOWN), OUT(30, 'a', KERNEL_DEPTH_UNKNOWN));
}

/* A call has returned when an event comes that cannot be within the call. */
TEST(ends_that_are_missing)
{
	CHECK("10:a{ 20:b{ 40:}b 40:}a ", RECORDS(), IN(10, 'a', 0), IN(20, 'b', 1),
	      OUT(40, 'a', 0));
	CHECK("10:a{ 20:b{ 30:}b 30:}a 30:c{ 40:}c ", RECORDS(), IN(10, 'a', 0), IN(20, 'b', 1),
	      IN(30, 'c', 0), OUT(40, 'c', 0));
	CHECK("10:a{ 20:b{ 40:}b 40:}a ", RECORDS(), IN(10, 'a', KERNEL_DEPTH_UNKNOWN),
	      IN(20, 'b', KERNEL_DEPTH_UNKNOWN), OUT(40, 'a', KERNEL_DEPTH_UNKNOWN));
	/* Another function returns at this depth. */
	CHECK("10:a{ 20:}a ", RECORDS(), IN(10, 'a', 0), OUT(20, 'x', 0));
	CHECK("10:a{ 20:b{ 30:}b 30:}a 30:lost 40:c{ 50:}c ", RECORDS(), IN(10, 'a', 0),
	      IN(20, 'b', 1), LOSS(30), OUT(35, 'a', 0), IN(40, 'c', 0), OUT(50, 'c', 0));
}

/*
 * An interrupt comes after a function has returned, and before the kernel has written the record of
 * the return. The kernel has decreased the depth already, so the interrupt has the depth of the
 * function.
 */
TEST(end_behind_an_interrupt)
{
	CHECK("10:a{ 20:b{ 30:}b 30:i{ 40:}i 60:}a ", RECORDS(), IN(10, 'a', 0), IN(20, 'b', 1),
	      IN(30, 'i', 1), OUT(40, 'i', 1), OUT(50, 'b', 1), OUT(60, 'a', 0));
}

/* A task that writes a record is not in the kernel, so its kernel calls have ended. */
TEST(records_end_calls)
{
	CHECK("100000:a{ 200000:b{ 900000:}b 900000:}a | ", RECORDS(900000), IN(100000, 'a', 0),
	      IN(200000, 'b', 1));
	CHECK("100000:a{ 200000:}a | 900000:b{ 950000:}b ", RECORDS(500000), IN(100000, 'a', 0),
	      OUT(200000, 'a', 0), IN(900000, 'b', 0), OUT(950000, 'b', 0));
}

TEST(clocks_that_differ)
{
	/* By the kernel's clock the call ends after the record. In truth it has ended before. */
	CHECK("100000:a{ 199999:}a | ", RECORDS(200000), IN(100000, 'a', 0), OUT(210000, 'a', 0));
	/* The difference is larger than clocks can differ. */
	CHECK("100000:a{ 200000:}a | ", RECORDS(200000), IN(100000, 'a', 0),
	      OUT(200000 + KERNEL_CALLS_SKEW_NS, 'a', 0));
	/*
	 * By the kernel's clock a call begins shortly before a record, and it ends long after the
	 * record. In truth it has begun after the record.
	 */
	CHECK("| 200000:a{ 290000:}a ", RECORDS(200000), IN(199000, 'a', 0), OUT(290000, 'a', 0));
	/* A call that may have ended before the record gets its place before the record. */
	CHECK("199000:a{ 199999:}a | ", RECORDS(200000), IN(199000, 'a', 0), OUT(200500, 'a', 0));
}

TEST(back_on_the_cpu)
{
	/*
	 * The kernel reports the return to the CPU in the first function that runs then. In this
	 * test the report comes after that function's entry.
	 */
	CHECK("10:a{ 20:out 29:in3 30:b{ 50:}b 60:}a ", RECORDS(), IN(10, 'a', 0), LEAVES(20),
	      IN(30, 'b', 1), IS_BACK(40, 3), OUT(50, 'b', 1), OUT(60, 'a', 0));
	CHECK("10:a{ 20:out 30:in3 40:b{ 50:}b 60:}a ", RECORDS(), IN(10, 'a', 0), LEAVES(20),
	      IS_BACK(30, 3), IN(40, 'b', 1), OUT(50, 'b', 1), OUT(60, 'a', 0));
	/* The CPU was not recorded: this number stands for an unknown CPU. */
	CHECK("20:out 29:in65535 30:b{ 50:}b ", RECORDS(), LEAVES(20), IN(30, 'b', 0),
	      OUT(50, 'b', 0));
	/* A loss ends the open call. A later return to the CPU is shown at its own time. */
	CHECK("20:out 29:in65535 30:b{ 35:}b 35:lost 40:in3 ", RECORDS(), LEAVES(20),
	      IN(30, 'b', 0), LOSS(35), IS_BACK(40, 3));
}

TEST(deeper_than_any_kernel)
{
	static struct queued events[2 * (KERNEL_FRAMES_MAX + 10)];
	size_t half = ARRAY_SIZE(events) / 2;
	size_t nr_in = 0;
	size_t nr_out = 0;

	for (size_t i = 0; i < half; i++) {
		events[i] = (struct queued)IN(i + 1, 'a', i);
		events[2 * half - 1 - i] = (struct queued)OUT(3 * half - i, 'a', i);
	}

	char *text = walk(events, ARRAY_SIZE(events), RECORDS(), 8, true, false);

	for (const char *at = text; *at; at++) {
		nr_in += *at == '{';
		nr_out += *at == '}';
		assert_true(nr_out <= nr_in);
	}
	assert_int_equal(nr_in, KERNEL_FRAMES_MAX);
	assert_int_equal(nr_out, KERNEL_FRAMES_MAX);
	free(text);
}

/* Without a program, the addresses of a task have no meaning. */
TEST(no_program)
{
	struct queued events[] = { IN(10, 'a', 0), LEAVES(20), IS_BACK(30, 1), OUT(40, 'a', 0) };
	char *text = walk(events, ARRAY_SIZE(events), RECORDS(), 8, false, true);

	assert_string_equal(text, "20:out 30:in1 ");
	free(text);
}

/* The most that the two clocks can differ, and one nanosecond less. */
TEST(clocks_at_their_border)
{
	const uint64_t skew = KERNEL_CALLS_SKEW_NS;

	/* The end of a call at the record or after it. */
	CHECK("100000:a{ 199999:}a | ", RECORDS(200000), IN(100000, 'a', 0), OUT(200000, 'a', 0));
	CHECK("100000:a{ 199999:}a | ", RECORDS(200000), IN(100000, 'a', 0),
	      OUT(200000 + skew - 1, 'a', 0));
	CHECK("100000:a{ 199998:}a | ", RECORDS(200000), IN(100000, 'a', 0), OUT(199998, 'a', 0));
	/* The beginning of a long call before the record. */
	CHECK("| 200000:a{ 290000:}a ", RECORDS(200000), IN(200000 - skew + 1, 'a', 0),
	      OUT(290000, 'a', 0));
	CHECK("| 200000:a{ 290000:}a ", RECORDS(200000), IN(199999, 'a', 0), OUT(290000, 'a', 0));
	CHECK("| 200000:a{ 290000:}a ", RECORDS(200000), IN(200000, 'a', 0), OUT(290000, 'a', 0));

	struct queued early[] = { IN(200000 - skew, 'a', 0), OUT(290000, 'a', 0) };
	struct strbuf expected cleanup_strbuf = { 0 };

	strbuf_addf(&expected, "%llu:a{ 200000:}a | ", 200000ULL - skew);
	check(early, ARRAY_SIZE(early), RECORDS(200000), strbuf_str(&expected));
}

/* The record is nearer to the beginning of the call than to its end, or just as near. */
TEST(calls_around_a_record)
{
	CHECK("199000:a{ 199999:}a | ", RECORDS(200000), IN(199000, 'a', 0), OUT(201000, 'a', 0));
	CHECK("| 200000:a{ 201001:}a ", RECORDS(200000), IN(199000, 'a', 0), OUT(201001, 'a', 0));
	/*
	 * The end of a call, or of a call around it, decides if the call is moved. The ends of
	 * calls inside it do not.
	 */
	CHECK("| 200000:a{ 200000:b{ 200000:}b 290000:}a ", RECORDS(200000), IN(199000, 'a', 0),
	      IN(199100, 'b', 1), OUT(199200, 'b', 1), OUT(290000, 'a', 0));
	CHECK("199000:a{ 199100:b{ 199200:}b 199999:}a | ", RECORDS(200000), IN(199000, 'a', 0),
	      IN(199100, 'b', 1), OUT(199200, 'b', 1), OUT(200900, 'a', 0));
	/* Without records, no call is moved. */
	CHECK("199000:a{ 290000:}a ", RECORDS(), IN(199000, 'a', 0), OUT(290000, 'a', 0));
}

/* Merging stops at a limit of time, at events that are no calls, and where a call must return. */
TEST(limits_of_merges)
{
	static const struct {
		struct queued events[3];
		size_t nr_events;
		uint64_t limit_ns;
		size_t max;
		size_t nr;
	} rows[] = {
		{ { IN(100000, 'a', 0), OUT(110000, 'a', 0) }, 2, 99999, 8, 0 },
		{ { IN(100000, 'a', 0), OUT(110000, 'a', 0) }, 2, 100000, 8, 1 },
		{ { IN(100000, 'a', 0), OUT(110000, 'a', 0) }, 2, 109999, 8, 1 },
		{ { IN(100000, 'a', 0), OUT(110000, 'a', 0) }, 2, 110000, 8, 2 },
		{ { IN(100000, 'a', 0), OUT(110000, 'a', 0) }, 2, UINT64_MAX, 1, 1 },
		/* After the queue's last event, the caller reads the records. */
		{ { IN(100000, 'a', 0), OUT(110000, 'a', 0) }, 2, UINT64_MAX, 8, 2 },
		{ { IN(600000, 'a', 0) }, 1, 199999, 8, 0 },
		{ { IN(600000, 'a', 0) }, 1, 200000, 8, 1 },
		{ { IN(600000, 'a', 0) }, 1, 500000, 8, 2 },
		{ { IN(100000, 'a', 0), IN(600000, 'b', 1) }, 2, UINT64_MAX, 8, 1 },
		{ { LEAVES(100000) }, 1, UINT64_MAX, 8, 0 },
		{ { LOSS(100000) }, 1, UINT64_MAX, 8, 0 },
		{ { OUT(100000, 'a', 0) }, 1, UINT64_MAX, 8, 0 },
		{ { IN(200000, 'a', 0) }, 1, UINT64_MAX, 8, 2 },
		{ { { 0 } }, 0, UINT64_MAX, 8, 0 },
	};
	static const uint64_t times[] = { 200000, 500000, 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		static const struct source_ops ops = { .next_ns = records_next_ns };
		struct queued events[3];
		struct queue queue = { .events = events, .nr = rows[i].nr_events };
		struct queue_source queued = { .queue = &queue, .end = rows[i].nr_events };
		struct record in_file[RECORDS_MAX];
		struct src_user user = {
			.source.ops = &ops,
			.buf = (uint8_t *)in_file,
			.len = put_records(times, in_file) * sizeof(*in_file),
			.file_ended = true,
		};
		struct session_ref ref = { 0 };
		struct task task = { .refs = &ref, .nr_refs = 1 };
		struct kernel_calls calls = { 0 };
		struct event got[8];
		size_t nr;

		memcpy(events, rows[i].events, sizeof(events));
		records = times;
		kernel_calls_init(&calls, &queued, &user, &task);
		nr = kernel_calls_merge(&calls, got, rows[i].max, rows[i].limit_ns);
		assert_int_equal(nr, rows[i].nr);
		assert_int_equal(queued.at + user.at / sizeof(*in_file), nr);
		for (size_t k = 1; k < nr; k++)
			assert_true(got[k - 1].time_ns <= got[k].time_ns);
		/* Without a session of the task, or without events of the kernel, no calls come. */
		queued.at = 0;
		user.at = 0;
		calls.drops = true;
		assert_int_equal(kernel_calls_merge(&calls, got, 8, UINT64_MAX), 0);
		calls.drops = false;
		queued.queue = NULL;
		assert_int_equal(kernel_calls_merge(&calls, got, 8, UINT64_MAX), 0);
		kernel_calls_deinit(&calls);
	}
}

/* The returns before a record come at its time, or at that of the last event if it is later. */
TEST(returns_before_a_record)
{
	static const uint64_t times[][2] = { { 15, 20 }, { 20, 20 }, { 25, 25 } };

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		struct kernel_frame frames[3] = { { 'a', 0 }, { 'b', 1 }, { 'c', 2 } };
		struct kernel_calls calls = { .frames = frames, .nr = 3, .last_ns = 20 };
		struct event got[8];

		assert_int_equal(kernel_calls_return(&calls, times[i][0], got, 0), 0);
		assert_int_equal(kernel_calls_return(&calls, times[i][0], got, 2), 2);
		assert_int_equal(calls.nr, 1);
		assert_int_equal(kernel_calls_return(&calls, times[i][0], got + 2, 8), 1);
		assert_int_equal(calls.nr, 0);
		for (size_t k = 0; k < 3; k++) {
			assert_int_equal(got[k].time_ns, times[i][1]);
			assert_int_equal(got[k].type, EVENT_EXIT);
			assert_int_equal(got[k].addr, 'c' - k);
			assert_int_equal(got[k].depth, 2 - k);
		}
		assert_int_equal(kernel_calls_return(&calls, times[i][0], got, 8), 0);
	}
}
