/*
 * Finding a time in the records of a task. Reading from there gives the same as reading all
 * records.
 */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/recording.h"
#include "utils/format/bytes.h"
#include "utils/format/header.h"
#include "utils/pipeline/sources/seek.h"

/* Files are longer than half a megabyte: shorter ones are read from the start, without a search. */
#define NR_RECORDS 150000
#define NR_TIMES   15
#define START_NS   50000000000000
#define PACKED_AT  50000

/*
 * Properties of a random task.
 *
 * @nr: number of records; 0: NR_RECORDS
 * @args: one call in @args has arguments; 0: none has; @lost: one call in @lost comes after LOST;
 * @points: one in @points comes after an event with a payload
 * @back: one time in @back goes backwards
 * @looks: arguments look like records
 * @block_bytes: block size of a compact file; 0: it is not compact
 */
struct kind {
	size_t nr;
	unsigned args;
	unsigned lost;
	unsigned points;
	unsigned back;
	bool looks;
	bool big;
	size_t block_bytes;
};

struct scene {
	struct recording rec;
	struct strbuf bytes;
	struct trace_data data;
	uint64_t last_ns;
	uint64_t seed;
};

static uint64_t draw(struct scene *s, uint64_t below)
{
	s->seed = s->seed * 6364136223846793005 + 1442695040888963407;
	return (s->seed >> 33) % below;
}

static bool one_in(struct scene *s, unsigned nr)
{
	return nr && draw(s, nr) == 0;
}

static void put_payload(struct scene *s, const struct kind *kind, size_t len)
{
	for (size_t i = 0; i < len; i += 8) {
		uint8_t word[8];
		uint64_t value = draw(s, 1UL << 31);

		if (kind->looks)
			value = i % 16 ? record_data(RECORD_ENTRY, draw(s, 9), 0x401000)
				       : s->last_ns + draw(s, 1000);
		put_u64(word, value, s->rec.big);
		strbuf_add(&s->bytes, word, sizeof(word));
	}
}

static void put_point(struct scene *s, const struct kind *kind)
{
	uint8_t head[8] = { 0 };

	recording_put(&s->rec, &s->bytes, s->last_ns,
		      record_data(RECORD_EVENT, 0, 1000001) | RECORD_MORE);
	put_u16(head, 6 + 8 * 3, s->rec.big);
	strbuf_add(&s->bytes, head, sizeof(head));
	put_payload(s, kind, 24);
}

/* Add random calls, up to eight deep. */
static void put_calls(struct scene *s, const struct kind *kind)
{
	uint64_t open[8];
	unsigned depth = 0;

	s->last_ns = START_NS;
	for (size_t i = 0; i < (kind->nr ? kind->nr : NR_RECORDS); i++) {
		bool is_entry = depth == 0 || (depth < 8 && draw(s, 2));
		uint64_t time_ns = s->last_ns;
		uint64_t more = one_in(s, kind->args) ? RECORD_MORE : 0;

		if (is_entry)
			open[depth] = 0x400000 + 64 * draw(s, 26);
		else
			depth--;
		if (one_in(s, kind->back))
			time_ns -= draw(s, 500);
		recording_put(
			&s->rec, &s->bytes, time_ns,
			record_data(is_entry ? RECORD_ENTRY : RECORD_EXIT, depth, open[depth]) |
				more);
		if (more)
			put_payload(s, kind, 8 + 8 * draw(s, 6));
		depth += is_entry;
		s->last_ns += 1 + draw(s, 40);
		if (one_in(s, kind->lost))
			recording_put(&s->rec, &s->bytes, 0, record_data(RECORD_LOST, 0, 7));
		if (one_in(s, kind->points))
			put_point(s, kind);
	}
}

static void begin(struct scene *s, const struct kind *kind)
{
	*s = (struct scene){ .seed = 17 };
	recording_init(&s->rec);
	s->rec.big = kind->big;
	s->rec.features |= kind->args ? FEAT_ARGUMENT | FEAT_RETVAL : 0;
	recording_add_task(&s->rec, 100, "", START_NS);
	put_calls(s, kind);
	recording_finish(&s->rec);
	recording_add_file(&s->rec, "100.dat", s->bytes.data, s->bytes.len);
	if (kind->block_bytes)
		recording_pack(&s->rec, 100, kind->block_bytes);
	assert_int_equal(data_open(&s->data, s->rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	s->data.tasks[0].first_ns = START_NS;
}

static void end(struct scene *s)
{
	data_close(&s->data);
	recording_deinit(&s->rec);
	strbuf_deinit(&s->bytes);
}

static uint64_t mix(uint64_t sum, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = (sum ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
	return sum;
}

/*
 * A summary of the events from the first one that is not before @time_ns. @skipped: the number of
 * bytes that were not read
 */
struct part {
	uint64_t sum;
	size_t nr;
	uint64_t last_ns;
	uint64_t skipped;
};

static void add_event(struct part *part, const struct event *event)
{
	const uint64_t words[] = {
		event->time_ns, event->addr,  event->depth,
		event->type,	event->flags, event->data ? event->data_len : 0
	};

	part->sum = mix(part->sum, words, sizeof(words));
	if (event->data)
		part->sum = mix(part->sum, event->data, event->data_len);
	part->nr++;
}

static struct part read_part(struct scene *s, uint64_t time_ns, bool seeks)
{
	struct src_user_plan plan = src_user_plan(1);
	struct event events[64];
	struct part part = { 0 };
	struct src_user src;
	ssize_t got = 1;

	assert_int_equal(src_user_open(&src, &s->data, 100, &plan, NULL), 0);
	src.end_offset = s->data.tasks[0].data_bytes;
	if (seeks && seek_time(&src, time_ns))
		part.skipped = src.next_offset;
	while (got > 0) {
		got = src_user_read(&src, events, 64, UINT64_MAX, NULL);
		for (ssize_t i = 0; i < got; i++) {
			part.last_ns = MAX(part.last_ns, events[i].time_ns);
			if (part.nr || events[i].time_ns >= time_ns)
				add_event(&part, &events[i]);
		}
	}
	src_user_close(&src);
	return part;
}

/* Returns the number of bytes that were skipped before the last of the searched times. */
static uint64_t check(const struct kind *kind)
{
	struct scene s;
	uint64_t skipped = 0;

	begin(&s, kind);
	assert_int_equal(seek_last_ns(&s.data, &s.data.tasks[0]), read_part(&s, 0, false).last_ns);
	for (size_t i = 0; i < NR_TIMES; i++) {
		uint64_t time_ns = START_NS + draw(&s, s.last_ns - START_NS);
		struct part all;
		struct part rest;

		if (i + 1 == NR_TIMES)
			time_ns = s.last_ns - 1000;
		all = read_part(&s, time_ns, false);
		rest = read_part(&s, time_ns, true);
		assert_int_equal(rest.nr, all.nr);
		assert_true(rest.sum == all.sum);
		skipped = rest.skipped;
	}
	end(&s);
	return skipped;
}

static void calls(void **state)
{
	assert_true(check(&(struct kind){ 0 }) > NR_RECORDS * 16 / 2);
	assert_true(check(&(struct kind){ .big = true }) > NR_RECORDS * 16 / 2);
	assert_true(check(&(struct kind){ .lost = 1000 }) > NR_RECORDS * 16 / 2);
}

static void events_and_arguments(void **state)
{
	assert_true(check(&(struct kind){ .points = 5 }) > NR_RECORDS * 16 / 2);
	assert_true(check(&(struct kind){ .args = 3 }) > NR_RECORDS * 16 / 2);
	assert_true(check(&(struct kind){ .args = 2, .points = 9, .lost = 500, .big = true }) >
		    NR_RECORDS * 16 / 2);
	check(&(struct kind){ .args = 2, .points = 3, .looks = true });
}

static void compact_blocks(void **state)
{
	assert_true(check(&(struct kind){ .block_bytes = PACKED_AT }) > NR_RECORDS * 16 / 2);
	assert_true(check(&(struct kind){ .block_bytes = 2000, .lost = 100 }) >
		    NR_RECORDS * 16 / 2);
	/* The blocks end at other places than the blocks of a recorder. */
	check(&(struct kind){ .block_bytes = PACKED_AT, .args = 3, .points = 7 });
}

/* A signal handler's calls are written before the call that it interrupts. */
static void times_that_go_backwards(void **state)
{
	check(&(struct kind){ .back = 20000 });
	check(&(struct kind){ .back = 30 });
	check(&(struct kind){ .back = 2 });
	check(&(struct kind){ .back = 5000, .args = 5 });
	check(&(struct kind){ .back = 1000, .block_bytes = 4000 });
}

static void put_time(struct scene *s, size_t record, uint64_t time_ns)
{
	put_u64((uint8_t *)s->bytes.data + 16 * record, time_ns, s->rec.big);
}

/*
 * A clock was set back in the middle: most times of the first half are later than those of the
 * second half.
 */
static void clock_that_is_set_back(void **state)
{
	struct scene s;
	uint64_t middle_ns;

	begin(&s, &(struct kind){ 0 });
	middle_ns = START_NS + (s.last_ns - START_NS) / 2;
	for (size_t i = 0; i < NR_RECORDS / 2; i++)
		put_time(&s, i, START_NS + 2 * middle_ns + i);
	put_time(&s, 0, START_NS);
	recording_add_file(&s.rec, "100.dat", s.bytes.data, s.bytes.len);
	for (size_t i = 1; i < NR_TIMES; i++) {
		uint64_t time_ns = middle_ns + (s.last_ns - middle_ns) * i / NR_TIMES;

		assert_int_equal(read_part(&s, time_ns, true).nr, read_part(&s, time_ns, false).nr);
		assert_int_equal(read_part(&s, time_ns, true).skipped, 0);
	}
	end(&s);
}

/* The time of day is set back by so little that the samples may not show it. */
static void time_of_day_that_is_set_back(void **state)
{
	const uint64_t since_1970 = 1700000000000000000;
	const size_t nr = 2000000;
	struct scene s;
	uint64_t from_ns;
	uint64_t back_ns;

	begin(&s, &(struct kind){ .nr = nr });
	back_ns = (s.last_ns - START_NS) / 120;
	from_ns = START_NS + (s.last_ns - START_NS) / 1000 * 730;
	for (size_t i = 0; i < nr; i++) {
		uint64_t time_ns = get_u64((uint8_t *)s.bytes.data + 16 * i, s.rec.big);

		put_time(&s, i,
			 time_ns - START_NS + since_1970 - (time_ns > from_ns ? back_ns : 0));
	}
	s.data.tasks[0].first_ns = since_1970;
	recording_add_file(&s.rec, "100.dat", s.bytes.data, s.bytes.len);
	for (size_t i = 1; i < NR_TIMES; i += 3) {
		uint64_t time_ns = from_ns - START_NS + since_1970 - back_ns * i / NR_TIMES;

		assert_int_equal(read_part(&s, time_ns, true).nr, read_part(&s, time_ns, false).nr);
	}
	end(&s);
}

/* Short files, times before all records, and damaged files: all is read from the start. */
static void reads_all(void **state)
{
	struct scene s;
	uint64_t middle_ns;

	begin(&s, &(struct kind){ 0 });
	middle_ns = START_NS + (s.last_ns - START_NS) / 2;
	assert_int_equal(read_part(&s, START_NS, true).skipped, 0);
	assert_int_equal(read_part(&s, START_NS + 1000, true).skipped, 0);
	assert_true(read_part(&s, UINT64_MAX, true).skipped);
	s.data.tasks[0].first_ns = 0;
	assert_int_equal(read_part(&s, middle_ns, true).skipped, 0);
	s.data.tasks[0].first_ns = START_NS;
	memset(s.bytes.data + s.bytes.len / 4, 0xff, s.bytes.len / 4);
	recording_add_file(&s.rec, "100.dat", s.bytes.data, s.bytes.len);
	assert_int_equal(read_part(&s, middle_ns, true).skipped, 0);
	end(&s);
}

/* After a crash, zeros or a part of a record may be at the end. */
static void the_last_record(void **state)
{
	struct scene s;
	uint64_t last_ns;

	begin(&s, &(struct kind){ 0 });
	last_ns = read_part(&s, 0, false).last_ns;
	strbuf_add(&s.bytes, "abc", 3);
	recording_add_file(&s.rec, "100.dat", s.bytes.data, s.bytes.len);
	s.data.tasks[0].data_bytes = s.bytes.len;
	assert_int_equal(seek_last_ns(&s.data, &s.data.tasks[0]), last_ns);
	for (size_t i = 0; i < 300000; i++)
		strbuf_addch(&s.bytes, '\0');
	memset(s.bytes.data + 16 * NR_RECORDS, 0, 3);
	recording_add_file(&s.rec, "100.dat", s.bytes.data, s.bytes.len);
	s.data.tasks[0].data_bytes = s.bytes.len;
	assert_int_equal(seek_last_ns(&s.data, &s.data.tasks[0]), last_ns);
	end(&s);
}

/* --- files with a record each ten nanoseconds --- */

static void put_even(struct scene *s, size_t nr, size_t block_bytes)
{
	*s = (struct scene){ .seed = 17 };
	recording_init(&s->rec);
	recording_add_task(&s->rec, 100, "", START_NS);
	for (size_t i = 0; i < nr; i++)
		recording_put(&s->rec, &s->bytes, START_NS + 10 * i,
			      record_data(i % 2 ? RECORD_EXIT : RECORD_ENTRY, 0, 0x401000));
	recording_finish(&s->rec);
	recording_add_file(&s->rec, "100.dat", s->bytes.data, s->bytes.len);
	if (block_bytes)
		recording_pack(&s->rec, 100, block_bytes);
	assert_int_equal(data_open(&s->data, s->rec.dir, DEMANGLE_SIMPLE, NULL), 0);
	s->data.tasks[0].first_ns = START_NS;
}

/*
 * Reading begins 128 KB before the searched time, and not much earlier. The file that was opened
 * stays open if the source keeps it.
 */
static void margins_before_a_time(void **state)
{
	static const size_t block_sizes[] = { 0, 16000, 50000 };
	const size_t margin = 128 << 10;

	for (size_t i = 0; i < ARRAY_SIZE(block_sizes); i++) {
		const size_t slack = block_sizes[i] ? 2 * block_sizes[i] : margin + 16;
		struct scene s;

		put_even(&s, 100000, block_sizes[i]);
		for (size_t record = 40000; record < 100000; record += 4321) {
			for (unsigned keeps = 0; keeps < 2; keeps++) {
				struct src_user_plan plan = src_user_plan(1);
				struct src_user src;

				plan.keeps_open = keeps;
				assert_int_equal(src_user_open(&src, &s.data, 100, &plan, NULL), 0);
				src.end_offset = s.data.tasks[0].data_bytes;
				assert_true(seek_time(&src, START_NS + 10 * record));
				assert_true(src.next_offset + margin <= 16 * record);
				assert_true(src.next_offset + margin + slack >= 16 * record);
				assert_int_equal(src.next_offset % 16, 0);
				assert_int_equal(src.end_offset, s.data.tasks[0].data_bytes);
				assert_int_equal(src.last_ns, START_NS);
				assert_int_equal(src.fd >= 0, keeps);
				src_user_close(&src);
			}
		}
		end(&s);
	}
}

/* Nothing is searched in files below half a megabyte, or if times are counted from 1970. */
static void what_is_searched(void **state)
{
	/* Times of day are later than this time: 25 years of 365 days after 1970. */
	const uint64_t of_day = 25ULL * 365 * 86400 * 1000000000;
	static const struct {
		size_t nr;
		size_t block_bytes;
		bool is_found;
	} rows[] = {
		{ 32767, 0, false },
		{ 32768, 0, true },
		{ 32767, 16000, false },
		{ 32768, 16000, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct src_user_plan plan = src_user_plan(1);
		struct src_user src;
		struct scene s;

		put_even(&s, rows[i].nr, rows[i].block_bytes);
		assert_int_equal(src_user_open(&src, &s.data, 100, &plan, NULL), 0);
		src.end_offset = s.data.tasks[0].data_bytes;
		assert_int_equal(seek_time(&src, START_NS + 10 * rows[i].nr - 5), rows[i].is_found);
		assert_int_equal(src.next_offset > 0, rows[i].is_found);
		src_user_limit(&src, 0, src.end_offset, 0);
		s.data.tasks[0].first_ns = of_day + 1;
		assert_false(seek_time(&src, UINT64_MAX));
		assert_int_equal(src.next_offset, 0);
		src.source.task = NULL;
		assert_false(seek_time(&src, UINT64_MAX));
		src_user_close(&src);
		end(&s);
	}
}

/* The last time of a damaged file is that of the last record before the damage. */
static void the_last_record_before_damage(void **state)
{
	static const struct {
		size_t nr;
		size_t damaged;
		uint64_t last_ns; /* since the start */
	} rows[] = {
		{ 100, 50, 490 },
		{ 100, 1, 0 },
		{ 60000, 59990, 599890 },
		{ 60000, 59999, 599980 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char record[16];
		struct scene s;

		put_even(&s, rows[i].nr, 0);
		memcpy(record, s.bytes.data + 16 * (rows[i].nr - 1), sizeof(record));
		/* So many bytes follow the damage that the file does not seem to be cut. */
		for (size_t k = 0; k < 100; k++)
			strbuf_add(&s.bytes, record, sizeof(record));
		memset(s.bytes.data + 16 * rows[i].damaged, 0xff, 16);
		recording_add_file(&s.rec, "100.dat", s.bytes.data, s.bytes.len);
		s.data.tasks[0].data_bytes = s.bytes.len;
		assert_int_equal(seek_last_ns(&s.data, &s.data.tasks[0]),
				 START_NS + rows[i].last_ns);
		memset(s.bytes.data, 0xff, 16);
		recording_add_file(&s.rec, "100.dat", s.bytes.data, s.bytes.len);
		assert_int_equal(seek_last_ns(&s.data, &s.data.tasks[0]), 0);
		end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls),
		cmocka_unit_test(events_and_arguments),
		cmocka_unit_test(compact_blocks),
		cmocka_unit_test(times_that_go_backwards),
		cmocka_unit_test(clock_that_is_set_back),
		cmocka_unit_test(time_of_day_that_is_set_back),
		cmocka_unit_test(reads_all),
		cmocka_unit_test(the_last_record),
		cmocka_unit_test(margins_before_a_time),
		cmocka_unit_test(what_is_searched),
		cmocka_unit_test(the_last_record_before_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
