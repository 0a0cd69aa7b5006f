/* The records of perf-cpu*.dat: each kind, both byte orders, cut files and wrong ones. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/format/bytes.h"
#include "utils/format/kernel/perf_dat.h"

/* Makes a record of @body, which has whole words, and a trailer. */
static size_t make(uint8_t *to, uint32_t type, uint16_t misc, const void *body, size_t len,
		   bool big)
{
	size_t size = 8 + len + 16;

	put_u32(to, type, big);
	put_u16(to + 4, misc, big);
	put_u16(to + 6, size, big);
	memcpy(to + 8, body, len);
	put_u32(to + 8 + len, 100, big);
	put_u32(to + 12 + len, 101, big);
	put_u64(to + 16 + len, 123456789, big);
	return size;
}

TEST(switches)
{
	static const struct {
		uint16_t misc;
		enum perf_record_type type;
	} kinds[] = {
		{ 0, PERF_REC_SCHED_IN },
		{ 0x2000, PERF_REC_SCHED_OUT },
		{ 0x6000, PERF_REC_SCHED_OUT_PREEMPT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds) * 2; i++) {
		struct perf_record rec;
		uint8_t bytes[64];
		bool big = i % 2;
		size_t len = make(bytes, 14, kinds[i / 2].misc, "", 0, big);

		assert_int_equal(perf_record_decode(bytes, len, big, &rec, NULL), len);
		assert_int_equal(rec.type, kinds[i / 2].type);
		assert_int_equal(rec.tid, 101);
		assert_int_equal(rec.time_ns, 123456789);
	}
}

TEST(forks)
{
	struct perf_record rec;
	uint8_t body[24];
	uint8_t bytes[64];

	put_u32(body, 200, false);
	put_u32(body + 4, 100, false);
	put_u32(body + 8, 201, false);
	put_u32(body + 12, 101, false);
	put_u64(body + 16, 42, false);

	size_t len = make(bytes, 7, 0, body, sizeof(body), false);

	assert_int_equal(perf_record_decode(bytes, len, false, &rec, NULL), 48);
	assert_int_equal(rec.type, PERF_REC_TASK_NEW);
	assert_int_equal(rec.pid, 200);
	assert_int_equal(rec.tid, 201);
	assert_int_equal(rec.ppid, 100);
	assert_int_equal(rec.ptid, 101);
	assert_int_equal(rec.time_ns, 42);
	make(bytes, 4, 0, body, sizeof(body), false);
	assert_int_equal(perf_record_decode(bytes, len, false, &rec, NULL), 48);
	assert_int_equal(rec.type, PERF_REC_TASK_EXIT);
}

TEST(names)
{
	struct perf_record rec;
	uint8_t body[8 + 64];
	uint8_t bytes[128];

	memset(body, 'x', sizeof(body));
	put_u32(body, 100, false);
	put_u32(body + 4, 101, false);
	memcpy(body + 8, "hello", 6);

	size_t len = make(bytes, 3, 0x2000, body, 16, false);

	assert_int_equal(perf_record_decode(bytes, len, false, &rec, NULL), 40);
	assert_int_equal(rec.type, PERF_REC_TASK_NAME);
	assert_string_equal(rec.comm, "hello");
	assert_true(rec.is_exec);

	/* A name without a NUL is cut at the end of its room. */
	body[13] = 'x';
	len = make(bytes, 3, 0, body, sizeof(body), false);
	assert_int_equal(perf_record_decode(bytes, len, false, &rec, NULL), len);
	assert_int_equal(strlen(rec.comm), PERF_COMM_MAX - 1);
	assert_false(rec.is_exec);
	assert_int_equal(rec.pid, 100);
	assert_int_equal(rec.tid, 101);
}

TEST(cut_and_wrong)
{
	struct perf_record rec;
	struct uft_err err = { 0 };
	uint8_t bytes[64];
	size_t len = make(bytes, 14, 0, "", 0, false);

	for (size_t i = 0; i < len; i++) {
		uint8_t *copy = exact_copy(bytes, i);

		assert_int_equal(perf_record_decode(copy, i, false, &rec, NULL), 0);
		free(copy);
	}
	/* Records that are too short for their kind are skipped. */
	make(bytes, 7, 0, "", 0, false);
	assert_int_equal(perf_record_decode(bytes, len, false, &rec, NULL), len);
	assert_int_equal(rec.type, PERF_REC_OTHER);
	/*
	 * A record of a name that lacks the name is skipped, too. A record that is too short for
	 * its header and its trailer is damage.
	 */
	const uint8_t ids[8] = { 0 };

	len = make(bytes, 3, 0, ids, sizeof(ids), false);
	assert_int_equal(perf_record_decode(bytes, len, false, &rec, NULL), len);
	assert_int_equal(rec.type, PERF_REC_OTHER);
	put_u16(bytes + 6, 8, false);
	assert_int_equal(perf_record_decode(bytes, len, false, &rec, &err), -EBADMSG);
	assert_string_not_equal(err.text, "");
}

/* The least number of bytes of each kind of record. A shorter record has no known kind. */
TEST(shortest_records)
{
	static const struct {
		uint32_t type;
		size_t body;
		enum perf_record_type expected;
	} rows[] = {
		{ 14, 0, PERF_REC_SCHED_IN },  { 7, 24, PERF_REC_TASK_NEW },
		{ 7, 23, PERF_REC_OTHER },     { 7, 32, PERF_REC_TASK_NEW },
		{ 4, 24, PERF_REC_TASK_EXIT }, { 4, 23, PERF_REC_OTHER },
		{ 3, 9, PERF_REC_TASK_NAME },  { 3, 8, PERF_REC_OTHER },
		{ 3, 7, PERF_REC_OTHER },      { 5, 24, PERF_REC_OTHER },
		{ 13, 24, PERF_REC_OTHER },    { 15, 24, PERF_REC_OTHER },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t body[32] = { 1, 0, 0, 0, 2, 0, 0, 0, 'x' };
		struct perf_record rec;
		uint8_t bytes[64];
		size_t len = make(bytes, rows[i].type, 0, body, rows[i].body, false);
		uint8_t *copy = exact_copy(bytes, len);

		assert_int_equal(perf_record_decode(copy, len, false, &rec, NULL), len);
		assert_int_equal(rec.type, rows[i].expected);
		/* If the type is not known, the task and the time come from the trailer. */
		if (rec.type == PERF_REC_OTHER) {
			assert_int_equal(rec.pid, 100);
			assert_int_equal(rec.tid, 101);
			assert_int_equal(rec.time_ns, 123456789);
		}
		if (rec.type == PERF_REC_TASK_NAME) {
			assert_int_equal(rec.pid, 1);
			assert_int_equal(rec.tid, 2);
			assert_string_equal(rec.comm, "x");
			assert_int_equal(rec.time_ns, 123456789);
		}
		free(copy);
	}
}

/* The size of a record has at least the head and the trailer, and at most the bytes there are. */
TEST(sizes_of_records)
{
	static const struct {
		uint16_t size;
		size_t len;
		ssize_t ret;
	} rows[] = {
		{ 23, 64, -EBADMSG }, { 24, 64, 24 },	   { 24, 24, 24 },	{ 25, 24, 0 },
		{ 64, 64, 64 },	      { 65, 64, 0 },	   { 0, 64, -EBADMSG }, { 65535, 64, 0 },
		{ 23, 7, 0 },	      { 23, 8, -EBADMSG },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t bytes[64] = { 14 };
		struct perf_record rec;
		struct uft_err err = { 0 };
		uint8_t *copy;

		put_u16(bytes + 6, rows[i].size, false);
		copy = exact_copy(bytes, rows[i].len);
		assert_int_equal(perf_record_decode(copy, rows[i].len, false, &rec, &err),
				 rows[i].ret);
		assert_int_equal(err.code, rows[i].ret < 0 ? -EBADMSG : 0);
		free(copy);
	}
}

/* A name has 15 bytes at most, as the kernel's names do. */
TEST(lengths_of_names)
{
	for (size_t len = 1; len < 40; len++) {
		uint8_t body[8 + 40];
		struct perf_record rec;
		uint8_t bytes[128];

		memset(body, 'n', sizeof(body));
		make(bytes, 3, 0, body, 8 + len, false);
		assert_int_equal(perf_record_decode(bytes, 32 + len, false, &rec, NULL), 32 + len);
		assert_int_equal(strlen(rec.comm), MIN(len, (size_t)PERF_COMM_MAX - 1));
	}
}
