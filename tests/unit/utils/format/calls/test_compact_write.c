/* The bytes of compact blocks. They must never change, since they are in files. */
#include "tests/unit/lib/unit.h"

#include "utils/base/containers/strbuf.h"
#include "utils/format/bytes.h"
#include "utils/format/calls/compact.h"
#include "utils/format/calls/compact_tokens.h"

#define RAW_BYTES (400U << 10)

static uint8_t raw[RAW_BYTES];
static size_t raw_len;
static uint8_t *packed;
static struct compact_coder *coder;

static int setup(void **state)
{
	coder = compact_coder_create();
	packed = malloc(compact_bound(COMPACT_RAW_MAX));
	raw_len = 0;
	return coder && packed ? 0 : -1;
}

static int teardown(void **state)
{
	compact_coder_destroy(coder);
	free(packed);
	return 0;
}

static void add(uint64_t time_ns, uint64_t data)
{
	assert_true(raw_len + 16 <= sizeof(raw));
	put_u64(raw + raw_len, time_ns, false);
	put_u64(raw + raw_len + 8, data, false);
	raw_len += 16;
}

static void enter_at(uint64_t time_ns, unsigned depth, uint64_t addr)
{
	add(time_ns, record_data(RECORD_ENTRY, depth, addr));
}

static void leave_at(uint64_t time_ns, unsigned depth, uint64_t addr)
{
	add(time_ns, record_data(RECORD_EXIT, depth, addr));
}

/*
 * Packs the first @len bytes into one block, and compares it with "USED: RAW/RECORDS FUNCS@DEPTH
 * FIRST_NS[ cut]: TOKENS|FUNCTIONS". Tokens and functions are in hex; long ones are given by length
 * and checksum.
 */
static void check_len(size_t len, bool has_more, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct compact_head head;
	size_t out_len;
	size_t used;

	memset(packed, 0xaa, COMPACT_HEAD_BYTES);
	used = compact_encode(coder, 17, raw, len, has_more, packed, &out_len);
	strbuf_addf(&out, "%zu", used);
	if (!used) {
		assert_int_equal(out_len, 0);
		assert_string_equal(strbuf_str(&out), expected);
		return;
	}
	assert_true(compact_head_decode(packed, &head));
	assert_int_equal(head.tid, 17);
	assert_int_equal(out_len, COMPACT_HEAD_BYTES + head.body_len);
	assert_true(head.sum == compact_sum(packed + COMPACT_HEAD_BYTES, head.body_len));
	strbuf_addf(&out, ": %u/%u %u@%u %llu%s: ", head.raw_len, head.nr_records, head.nr_funcs,
		    head.depth, (unsigned long long)head.first_ns, head.is_cut ? " cut" : "");
	if (head.body_len > 100)
		strbuf_addf(&out, "%u|%u %016llx", head.tokens_len, head.body_len,
			    (unsigned long long)head.sum);
	for (size_t i = 0; head.body_len <= 100 && i < head.body_len; i++)
		strbuf_addf(&out, "%s%02x", i == head.tokens_len ? "|" : "",
			    packed[COMPACT_HEAD_BYTES + i]);
	assert_string_equal(strbuf_str(&out), expected);
}

static void check(const char *expected)
{
	check_len(raw_len, false, expected);
	raw_len = 0;
}

TEST_WITH(calls_that_nest, setup, teardown)
{
	enter_at(0, 0, 0x1000);
	enter_at(5, 1, 0x1010);
	leave_at(7, 1, 0x1010);
	leave_at(9, 0, 0x1000);
	check("64: 64/4 2@0 0: 020116020808|804020");
	/* Calls that are repeated take fewer bytes. */
	for (unsigned i = 0; i < 3; i++) {
		enter_at(10 * i, 0, 0x1000);
		enter_at(10 * i + 5, 1, 0x1010);
		leave_at(10 * i + 7, 1, 0x1010);
		leave_at(10 * i + 9, 0, 0x1000);
	}
	check("192: 192/12 2@0 0: 020116020808060114080804140808|804020");
}

/* A difference takes one byte, two, or as many as needed. */
TEST_WITH(times_between_records, setup, teardown)
{
	static const uint64_t deltas[] = { 0,
					   1,
					   47,
					   48,
					   49,
					   303,
					   304,
					   DELTA_BYTE_MAX - 1,
					   DELTA_BYTE_MAX,
					   DELTA_BYTE_MAX + 1,
					   16383,
					   16384,
					   1ULL << 32,
					   DELTA_MAX - 1,
					   DELTA_MAX,
					   DELTA_MAX + 1 };
	static const char *const expected[] = {
		"32: 32/2 1@0 100: c2340100|8040",
		"32: 32/2 1@0 100: c2340104|8040",
		"32: 32/2 1@0 100: c23401bc|8040",
		"32: 32/2 1@0 100: c23401c000|8040",
		"32: 32/2 1@0 100: c23401c001|8040",
		"32: 32/2 1@0 100: c23401c0ff|8040",
		"32: 32/2 1@0 100: c23401c400|8040",
		"32: 32/2 1@0 100: c23401f8fe|8040",
		"32: 32/2 1@0 100: c23401f8ff|8040",
		"32: 32/2 1@0 100: c23401fcb01e|8040",
		"32: 32/2 1@0 100: c23401fcff7f|8040",
		"32: 32/2 1@0 100: c23401fc808001|8040",
		"32: 32/2 1@0 100: c23401fc8080808010|8040",
		"32: 32/2 1@0 100: c23401fcffffffffffff3f|8040",
		"32: 32/2 1@0 100: c2340113640000000000010000|8040",
		"32: 32/2 1@0 100: c2340113650000000000010000|8040"
	};

	for (size_t i = 0; i < ARRAY_SIZE(deltas); i++) {
		enter_at(100, 0, 0x1000);
		leave_at(100 + deltas[i], 0, 0x1000);
		check(expected[i]);
	}
}

TEST_WITH(a_clock_that_goes_back, setup, teardown)
{
	enter_at(100, 0, 0x1000);
	leave_at(99, 0, 0x1000);
	enter_at(100, 0, 0x1000);
	check("48: 48/3 1@0 100: c23401136300000000000000000601|8040");
}

/*
 * The function of an ENTRY is the last one in this place, the one before it, or one with a number.
 */
TEST_WITH(which_function_it_is, setup, teardown)
{
	static const unsigned order[] = { 0, 0, 1, 0, 1, 1, 2, 1, 0, 2, 2 };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		enter_at(i, 0, 0x1000 + 16 * order[i]);
		leave_at(i, 0, 0x1000 + 16 * order[i]);
	}
	check("352: 352/22 3@0 0: "
	      "0201000601000602000601000400060200060300060200060100060300060300|80402020");
	/* An EXIT comes where an ENTRY is expected, and an ENTRY where an EXIT is expected. */
	enter_at(0, 0, 0x1000);
	enter_at(0, 1, 0x1010);
	leave_at(0, 1, 0x1010);
	leave_at(0, 0, 0x1000);
	enter_at(0, 0, 0x1000);
	leave_at(0, 0, 0x1000);
	enter_at(0, 0, 0x1000);
	enter_at(0, 1, 0x1010);
	leave_at(0, 1, 0x1010);
	leave_at(0, 0, 0x1000);
	check("160: 160/10 2@0 0: 02010202000002010100010000|804020");
}

/* Numbers of functions take one byte or two. */
TEST_WITH(many_functions, setup, teardown)
{
	static const unsigned nrs[] = { 223, 224, 225, 480, 481, 3999, 4000, 4001 };
	static const char *const expected[] = {
		"3568: 3568/223 223@0 0: 446|670 40be81dce6f0304b",
		"3584: 3584/224 224@0 0: 449|674 ac2c52992c80110d",
		"3600: 3600/225 225@0 0: 452|678 a2a4f74d6ea4531a",
		"7680: 7680/480 480@0 0: 1217|1698 c94e1bb15007be1b",
		"7696: 7696/481 481@0 0: 1220|1702 5db33bdf8dfc7427",
		"63984: 63984/3999 3999@0 0: 11774|15774 bf81b125aea16a2c",
		"64000: 64000/4000 4000@0 0: 11777|15778 4a6e1f7414d17381",
		"64000: 64000/4000 4000@0 0: 11777|15778 4a6e1f7414d17381"
	};

	for (size_t i = 0; i < ARRAY_SIZE(nrs); i++) {
		for (unsigned k = 0; k < nrs[i]; k++)
			enter_at(k, k < RECORD_DEPTH_MAX ? k : RECORD_DEPTH_MAX, 0x1000 + 32 * k);
		check(expected[i]);
	}
	/*
	 * The block ends at the first function for which no number is free, whether this is at an
	 * exit or at an entry.
	 */
	for (unsigned k = 0; k < 4001; k++) {
		leave_at(k, 5, 0x1000 + 32 * k);
		if (k == 3999)
			enter_at(k, 5, 0x1000);
	}
	check("64016: 64016/4001 4000@6 0: 27779|31780 9122762d10266d45");
	for (unsigned k = 0; k < 4001; k++)
		add(k, record_data(RECORD_ENTRY, 5, 0x1000 + 32 * k) | RECORD_MORE);
	check("64016: 64016/392 21@5 0: 62294|62336 11cb7d5ed8b389bd");
}

TEST_WITH(functions_by_their_distances, setup, teardown)
{
	enter_at(0, 0, 0x1000);
	enter_at(0, 1, 0xfff);
	enter_at(0, 2, 0);
	enter_at(0, 3, RECORD_ADDR_MASK);
	enter_at(0, 4, 1);
	check("80: 80/5 5@0 0: 02010202020302040205|804001fd3ffeffffffffff7ffbffffffffff7f");
}

TEST_WITH(depths_that_are_not_as_expected, setup, teardown)
{
	/* The records begin within calls. They go deeper, and less deep. */
	leave_at(10, 4, 0x1000);
	enter_at(11, 4, 0x1000);
	enter_at(12, 7, 0x1000);
	leave_at(13, 7, 0x1000);
	leave_at(14, 2, 0x1000);
	leave_at(15, 0, 0x1000);
	leave_at(16, 0, 0x1000);
	enter_at(17, 0, 0x1000);
	leave_at(18, 0, 0x1010);
	check("144: 144/9 2@5 10: "
	      "0f05000b012806010f07000601040f03000b01040f01000b01040f01000b0104040b0204|804020");
	/* These calls are deeper than a record can state. */
	enter_at(10, RECORD_DEPTH_MAX - 1, 0x1000);
	enter_at(11, RECORD_DEPTH_MAX, 0x1000);
	enter_at(12, RECORD_DEPTH_MAX, 0x1000);
	enter_at(13, RECORD_DEPTH_MAX, 0x1010);
	leave_at(14, RECORD_DEPTH_MAX, 0x1010);
	leave_at(15, RECORD_DEPTH_MAX, 0x1000);
	leave_at(16, RECORD_DEPTH_MAX, 0x1000);
	leave_at(17, RECORD_DEPTH_MAX - 1, 0x1000);
	check("128: 128/8 2@1022 10: 0ffe032a01060104060204040404|804020");
}

TEST_WITH(the_first_record_tells_the_depth, setup, teardown)
{
	enter_at(10, 3, 0x1000);
	check("16: 16/1 1@3 10: 0f03002a01|8040");
	leave_at(10, 3, 0x1000);
	check("16: 16/1 1@4 10: 0f04000b0128|8040");
	add(10, record_data(RECORD_LOST, 3, 1));
	check("16: 16/1 0@0 0: 03020a00000000000000ea00010000000000");
	raw_len = 15;
	check("15: 15/0 0@0 0 cut: 170f0a00000000000000ea000100000000");
}

TEST_WITH(what_is_no_call_stays_as_it_is, setup, teardown)
{
	add(5, record_data(RECORD_LOST, 0, 7));
	enter_at(10, 0, 0x1000);
	add(0, 0);
	leave_at(12, 0, 0x1000);
	add(13, record_data(RECORD_EVENT, 1, 1000001));
	check("80: 80/5 1@0 10: "
	      "030205000000000000002a000700000000002a010302000000000000000000000000000000000803020d"
	      "000000000000006b0041420f000000|8040");
}

/* Calls that repeat, above and below the largest depth that a record can state. */
TEST_WITH(deep_calls_in_loops, setup, teardown)
{
	static const unsigned tops[] = { RECORD_DEPTH_MAX + 3, 5000 };
	static uint8_t back[COMPACT_RAW_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(tops); i++) {
		size_t len = 0;
		size_t used;
		size_t out_len;
		struct compact_head head;

		raw_len = 0;
		for (unsigned k = 0; k < 8000; k++) {
			unsigned at = tops[i] - 4 + (k % 8 < 4 ? k % 8 : 7 - k % 8);
			unsigned depth = MIN(at, (unsigned)RECORD_DEPTH_MAX);

			if (k % 8 < 4)
				enter_at(20 * k, depth, 0x1000);
			else
				leave_at(20 * k, depth, 0x1000);
		}
		len = raw_len;
		used = compact_encode(coder, 17, raw, len, false, packed, &out_len);
		assert_int_equal(used, len);
		assert_true(compact_head_decode(packed, &head));
		assert_true(compact_decode(coder, &head, packed + COMPACT_HEAD_BYTES, back));
		assert_memory_equal(raw, back, len);
		/* Nearly all tokens take one byte. */
		assert_in_range(head.tokens_len, 8000, 8200);
		raw_len = 0;
	}
}

TEST_WITH(payloads, setup, teardown)
{
	add(10, record_data(RECORD_ENTRY, 0, 0x1000) | RECORD_MORE);
	put_u64(raw + raw_len, 0x1111, false);
	raw_len += 8;
	leave_at(10, 0, 0x1000);
	check("40: 40/2 1@0 10: 07012a01111100000000000000|8040");
	/* MORE is set, but no payload follows. */
	add(10, record_data(RECORD_ENTRY, 0, 0x1000) | RECORD_MORE);
	add(11, record_data(RECORD_EXIT, 0, 0x1000) | RECORD_MORE);
	check("32: 32/1 1@0 10: 07022a010b000000000000002d00001000000000|8040");
	/* A word with an earlier time is not a record. Neither is a word with a much later time. */
	add(10, record_data(RECORD_EVENT, 0, 0x1000) | RECORD_MORE);
	enter_at(9, 0, 0x2000);
	enter_at(9 + (1ULL << 42), 0, 0x2000);
	enter_at(10 + (1ULL << 42), 0, 0x2000);
	check("64: 64/3 1@0 4398046511113: "
	      "03040a000000000000002f0000100000000009000000000000002800002000000000fe89808080808001"
	      "010f000004|808001");
	/* The payload has two words, the second of which looks like a record's. */
	add(10, record_data(RECORD_ENTRY, 0, 0x1000) | RECORD_MORE);
	put_u64(raw + raw_len, 0x1111, false);
	put_u64(raw + raw_len + 8, 0x2222, false);
	raw_len += 16;
	enter_at(20, 1, 0x2000);
	check("48: 48/2 2@0 10: 07022a01111100000000000022220000000000002a02|80408040");
}

/* @has_more: the writer may still extend the last record. */
TEST_WITH(records_that_may_not_be_whole, setup, teardown)
{
	enter_at(10, 0, 0x1000);
	add(11, record_data(RECORD_ENTRY, 1, 0x1010) | RECORD_MORE);
	put_u64(raw + raw_len, 0x1111, false);
	raw_len += 8;
	check_len(raw_len, true, "16: 16/1 1@0 10: 2a01|8040");
	check_len(16, true, "16: 16/1 1@0 10: 2a01|8040");
	check_len(17, true, "16: 16/1 1@0 10: 2a01|8040");
	check_len(31, true, "16: 16/1 1@0 10: 2a01|8040");
	check_len(15, true, "0");
	check_len(17, false, "17: 17/1 1@0 10 cut: 2a0117010b|8040");
	check_len(31, false, "31: 31/1 1@0 10 cut: 2a01170f0b000000000000006c001010000000|8040");
	check_len(1, false, "1: 1/0 0@0 0 cut: 17010a");
	leave_at(12, 1, 0x1010);
	check_len(raw_len, true, "56: 56/3 2@0 10: 2a0107010602111100000000000004|804020");
	raw_len = 0;
}

/* These records do not fit into one block. */
TEST_WITH(long_pieces, setup, teardown)
{
	for (unsigned i = 0; i < 9000; i++) {
		enter_at(10 * i, i % 7, 0x1000 + 16 * (i % 50));
		leave_at(10 * i + 3, i % 7, 0x1000 + 16 * (i % 50));
	}
	check("131072: 131072/8192 50@0 0: 24573|24624 a8c04cd9e6fd9a2d");
	/* A payload without an end is cut if it is the only record. */
	add(10, record_data(RECORD_ENTRY, 0, 0x1000) | RECORD_MORE);
	memset(raw + raw_len, 0, 200000);
	raw_len += 200000;
	check_len(raw_len, true, "131072: 131072/1 1@0 10 cut: 131061|131063 3fb0947a7db6e918");
	check("131072: 131072/1 1@0 10 cut: 131061|131063 3fb0947a7db6e918");
	enter_at(10, 0, 0x1000);
	add(10, record_data(RECORD_ENTRY, 1, 0x1000) | RECORD_MORE);
	memset(raw + raw_len, 0, 200000);
	raw_len += 200000;
	check_len(raw_len, true, "16: 16/1 1@0 10: 2a01|8040");
	check("16: 16/1 1@0 10: 2a01|8040");
	/* The payload fits exactly: a longer one would be cut. */
	add(10, record_data(RECORD_ENTRY, 0, 0x1000) | RECORD_MORE);
	memset(raw + raw_len, 0, COMPACT_RAW_MAX);
	raw_len += COMPACT_RAW_MAX - 16;
	leave_at(10, 0, 0x1000);
	check("131072: 131072/1 1@0 10: 131061|131063 3fb0947a7db6e918");
}

/* The last payload is not complete while it may get more bytes, unless the block is full. */
TEST_WITH(a_payload_that_fills_the_block, setup, teardown)
{
	add(10, record_data(RECORD_ENTRY, 0, 0x1000) | RECORD_MORE);
	memset(raw + raw_len, 0, 2 * COMPACT_RAW_MAX);
	check_len(COMPACT_RAW_MAX - 8, true, "0");
	check_len(COMPACT_RAW_MAX - 1, true, "0");
	check_len(COMPACT_RAW_MAX, true, "131072: 131072/1 1@0 10: 131061|131063 3fb0947a7db6e918");
	check_len(COMPACT_RAW_MAX, false,
		  "131072: 131072/1 1@0 10: 131061|131063 3fb0947a7db6e918");
	check_len(COMPACT_RAW_MAX + 8, false,
		  "131072: 131072/1 1@0 10 cut: 131061|131063 3fb0947a7db6e918");
}

/* The rest of a record after a full block is not a part of this block. */
TEST_WITH(a_rest_after_a_full_block, setup, teardown)
{
	const char *full = "131072: 131072/8192 1@0 0: 8194|8196 bfa2e36d737da56a";

	for (unsigned i = 0; i < 4096; i++) {
		enter_at(0, 0, 0x1000);
		leave_at(0, 0, 0x1000);
	}
	check_len(COMPACT_RAW_MAX, false, full);
	memset(raw + raw_len, 0, 32);
	check_len(COMPACT_RAW_MAX + 1, false, full);
	check_len(COMPACT_RAW_MAX + 15, false, full);
	check_len(COMPACT_RAW_MAX + 16, false, full);
}

struct some_record {
	uint64_t time_ns;
	enum record_type type;
	unsigned depth;
};

static unsigned least_of(const struct some_record *records, size_t nr)
{
	struct compact_head head;
	size_t out_len;

	raw_len = 0;
	for (size_t i = 0; i < nr; i++)
		add(records[i].time_ns, record_data(records[i].type, records[i].depth, 0x1000));
	assert_int_equal(compact_encode(coder, 17, raw, raw_len, false, packed, &out_len), raw_len);
	assert_true(compact_head_decode(packed, &head));
	return head.least;
}

/* The head states the number of calls that are open from the start to the end of the block. */
TEST_WITH(calls_that_stay_open, setup, teardown)
{
	static const struct {
		struct some_record records[5];
		unsigned nr;
		unsigned least;
	} rows[] = {
		{ { { 0, RECORD_LOST, 3 } }, 1, 0 },
		{ { { 9, RECORD_EVENT, 3 } }, 1, 0 },
		{ { { 9, RECORD_ENTRY, 3 } }, 1, 3 },
		{ { { 9, RECORD_EXIT, 3 } }, 1, 3 },
		{ { { 9, RECORD_ENTRY, 3 }, { 9, RECORD_ENTRY, 4 } }, 2, 3 },
		{ { { 9, RECORD_ENTRY, 3 }, { 9, RECORD_EXIT, 3 } }, 2, 3 },
		{ { { 9, RECORD_ENTRY, 3 }, { 9, RECORD_EXIT, 3 }, { 9, RECORD_EXIT, 2 } }, 3, 2 },
		{ { { 9, RECORD_EXIT, 3 }, { 9, RECORD_EXIT, 2 }, { 9, RECORD_ENTRY, 2 } }, 3, 2 },
		{ { { 0, RECORD_LOST, 0 }, { 9, RECORD_EXIT, 5 }, { 9, RECORD_EVENT, 0 } }, 3, 5 },
		{ { { 9, RECORD_ENTRY, 1022 }, { 9, RECORD_ENTRY, 1023 } }, 2, 1022 },
		{ { { 9, RECORD_ENTRY, 1023 }, { 9, RECORD_ENTRY, 1023 } }, 2, 1023 },
		/* These calls have long times between them. */
		{ { { 9, RECORD_ENTRY, 4 }, { 9000, RECORD_EXIT, 4 } }, 2, 4 },
		{ { { 9, RECORD_ENTRY, 4 }, { 9000, RECORD_EXIT, 4 }, { 90000, RECORD_EXIT, 3 } },
		  3,
		  3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(least_of(rows[i].records, rows[i].nr), rows[i].least);
}

/*
 * A word of a payload may look like the time of a record, so that fewer calls are known to be open.
 * A word looks so if it is a time up to 2^42 ns before the record with the payload.
 */
TEST_WITH(payloads_that_may_hide_calls, setup, teardown)
{
	static const uint64_t now_ns = 1ULL << 50;
	static const struct {
		uint64_t word;
		unsigned least;
		unsigned nr_records;
	} rows[] = {
		{ now_ns, 0, 3 }, /* this is a record */
		{ now_ns - 1, 0, 2 },
		{ now_ns - (1ULL << 42) + 1, 0, 2 },
		{ now_ns - (1ULL << 42), 4, 2 },
		{ now_ns + (1ULL << 42) - 1, 0, 3 },
		{ now_ns + (1ULL << 42), 4, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct compact_head head;
		size_t out_len;

		raw_len = 0;
		add(now_ns, record_data(RECORD_ENTRY, 4, 0x1000) | RECORD_MORE);
		put_u64(raw + raw_len, 0x1111, false);
		raw_len += 8;
		enter_at(rows[i].word, 0, 0x2000);
		enter_at(now_ns + 10, 5, 0x3000);
		assert_int_equal(compact_encode(coder, 17, raw, raw_len, false, packed, &out_len),
				 raw_len);
		assert_true(compact_head_decode(packed, &head));
		assert_int_equal(head.least, rows[i].least);
		assert_int_equal(head.nr_records, rows[i].nr_records);
	}
}

TEST_WITH(a_coder_begins_anew_with_each_block, setup, teardown)
{
	enter_at(10, 0, 0x1000);
	leave_at(10, 0, 0x1000);
	check_len(raw_len, false, "32: 32/2 1@0 10: 2a0100|8040");
	check("32: 32/2 1@0 10: 2a0100|8040");
}

TEST_WITH(bounds, setup, teardown)
{
	assert_int_equal(compact_bound(0), 40 + COMPACT_HEAD_BYTES + 64);
	assert_int_equal(compact_bound(15), 40 + 15 + COMPACT_HEAD_BYTES + 64);
	assert_int_equal(compact_bound(16), 80 + 16 + COMPACT_HEAD_BYTES + 64);
}
