/* Compact blocks: packed bytes come back unchanged, whatever they are. Damage is noticed. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/format/bytes.h"
#include "utils/format/calls/compact.h"
#include "utils/format/calls/compact_tokens.h"
#include "utils/format/record.h"

#define RAW_BYTES (400U << 10)

static uint8_t raw[RAW_BYTES];
static uint8_t back[COMPACT_RAW_MAX];
static uint8_t *packed;
static size_t raw_len;
static size_t packed_len;
static struct compact_coder *coder;

static int setup(void **state)
{
	coder = compact_coder_create();
	packed = malloc(4 * compact_bound(COMPACT_RAW_MAX) + COMPACT_SLACK);
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
	const struct record rec = { time_ns, data };

	assert_true(raw_len + sizeof(rec) <= sizeof(raw));
	memcpy(raw + raw_len, &rec, sizeof(rec));
	raw_len += sizeof(rec);
}

static void add_bytes(const void *bytes, size_t len)
{
	memcpy(raw + raw_len, bytes, len);
	raw_len += len;
}

static void pack(void)
{
	packed_len = 0;
	for (size_t done = 0; done < raw_len;) {
		size_t len;
		size_t used = compact_encode(coder, 17, raw + done, raw_len - done, false,
					     packed + packed_len, &len);

		assert_true(used > 0 && used <= COMPACT_RAW_MAX);
		assert_true(len <= compact_bound(used));
		done += used;
		packed_len += len;
	}
	memset(packed + packed_len, 0, COMPACT_SLACK);
}

/* Pack and unpack all bytes. Returns the number of blocks. */
static unsigned check(void)
{
	unsigned nr = 0;
	size_t done = 0;

	pack();
	for (size_t at = 0; at < packed_len; nr++) {
		struct compact_head head;

		assert_true(compact_head_decode(packed + at, &head));
		assert_int_equal(head.tid, 17);
		assert_true(compact_decode(coder, &head, packed + at + COMPACT_HEAD_BYTES, back));
		assert_memory_equal(back, raw + done, head.raw_len);
		done += head.raw_len;
		at += COMPACT_HEAD_BYTES + head.body_len;
	}
	assert_int_equal(done, raw_len);
	return nr;
}

/* Add calls of @nr_funcs functions; some calls are deep. */
static void add_calls(unsigned nr, unsigned nr_funcs)
{
	uint64_t now_ns = 123456789012ULL;
	uint64_t stack[40];
	unsigned depth = 0;
	uint32_t seed = 1;

	for (unsigned i = 0; i < nr; i++) {
		seed = seed * 1103515245 + 12345;
		now_ns += seed >> 24;
		if (depth < 40 && (depth == 0 || (seed >> 16) % 2)) {
			stack[depth] = 0x555555554000ULL + 64 * ((seed >> 8) % nr_funcs);
			add(now_ns, record_data(RECORD_ENTRY, depth, stack[depth]));
			depth++;
		} else {
			depth--;
			add(now_ns, record_data(RECORD_EXIT, depth, stack[depth]));
		}
	}
}

static unsigned fewest_open(const uint8_t *records, size_t len)
{
	unsigned least = RECORD_DEPTH_MAX;

	for (size_t at = 0; at < len; at += sizeof(struct record)) {
		struct record rec;

		memcpy(&rec, records + at, sizeof(rec));
		least = MIN(least, record_depth(rec.data));
	}
	return least;
}

/*
 * Check the depths in heads: a reader that begins with a block knows how many calls are open, and
 * how many of them stay open in it.
 */
static void check_depths(void)
{
	size_t done = 0;

	for (size_t at = 0; at < packed_len;) {
		struct compact_head head;
		struct record first;

		assert_true(compact_head_decode(packed + at, &head));
		memcpy(&first, raw + done, sizeof(first));
		assert_int_equal(head.depth, record_depth(first.data) +
						     (record_type(first.data) == RECORD_EXIT));
		assert_int_equal(head.least, fewest_open(raw + done, head.raw_len));
		done += head.raw_len;
		at += COMPACT_HEAD_BYTES + head.body_len;
	}
}

TEST_WITH(a_leaf_in_a_loop_gets_small, setup, teardown)
{
	uint64_t now_ns = 5000;

	add(now_ns, record_data(RECORD_ENTRY, 0, 0x1000));
	for (int i = 0; i < 3000; i++) {
		add(now_ns += 20, record_data(RECORD_ENTRY, 1, 0x2000));
		add(now_ns += 300, record_data(RECORD_EXIT, 1, 0x2000));
	}
	assert_int_equal(check(), 1);
	/* An ENTRY takes one byte, an EXIT two. */
	assert_true(packed_len < 3 * 3000 + 100);
}

/*
 * main() stays open through the second block. In the block that is made last, the words after the
 * payload may belong to the payload, or be a record of depth 0.
 */
TEST_WITH(calls_open_all_through_a_block, setup, teardown)
{
	const uint32_t nr = COMPACT_RAW_MAX / sizeof(struct record);
	uint64_t now_ns = 1ULL << 44;
	struct compact_head second;
	struct compact_head head;

	add(now_ns, record_data(RECORD_ENTRY, 0, 0x1000));
	for (uint32_t i = 0; i < nr; i++) {
		add(now_ns += 20, record_data(RECORD_ENTRY, 1, 0x2000));
		add(now_ns += 30, record_data(RECORD_EXIT, 1, 0x2000));
	}
	assert_int_equal(check(), 3);
	check_depths();
	assert_true(compact_head_decode(packed, &head));
	assert_int_equal(head.least, 0);
	assert_true(compact_head_decode(packed + COMPACT_HEAD_BYTES + head.body_len, &second));
	assert_int_equal(second.least, 1);

	raw_len = 0;
	add(now_ns, record_data(RECORD_ENTRY, 2, 0x1000) | RECORD_MORE);
	add_bytes("argument", 8);
	add(now_ns - 5, record_data(RECORD_ENTRY, 0, 0x2000));
	add(now_ns + 5, record_data(RECORD_ENTRY, 3, 0x2000));
	assert_int_equal(check(), 1);
	assert_true(compact_head_decode(packed, &head));
	assert_int_equal(head.least, 0);
}

TEST_WITH(any_tree_comes_back, setup, teardown)
{
	add_calls(20000, 200);
	assert_true(check() >= 3);
	check_depths();
}

TEST_WITH(more_functions_than_a_block_numbers, setup, teardown)
{
	for (unsigned i = 0; i < 6000; i++) {
		add(1000 + i, record_data(RECORD_ENTRY, 3, 0x400000 + 16 * i));
		add(1000 + i, record_data(RECORD_EXIT, 3, 0x400000 + 16 * i));
	}
	assert_true(check() >= 2);
}

TEST_WITH(surprises, setup, teardown)
{
	/*
	 * The records begin within calls, leave calls that were never entered, have losses, go back
	 * in time, and are too deep.
	 */
	add(100, record_data(RECORD_EXIT, 5, 0x7000));
	add(100, record_data(RECORD_EXIT, 4, 0x6000));
	add(90, record_data(RECORD_ENTRY, 4, 0x6000));
	add(1ULL << 60, record_data(RECORD_EXIT, 4, 0x9000));
	add(0, record_data(RECORD_LOST, 0, 77));
	add(UINT64_MAX, record_data(RECORD_ENTRY, 900, RECORD_ADDR_MASK));
	for (unsigned i = 0; i < 6000; i++)
		add(i, record_data(RECORD_ENTRY, 901 + i, 0x1000 + i % 7));
	for (unsigned i = 6000; i-- > 0;)
		add(i * 3, record_data(RECORD_EXIT, 901 + i, 0x1000 + i % 7));
	add(5, record_data(RECORD_EXIT, 0, 0x1000));
	add(5, record_data(RECORD_EXIT, RECORD_DEPTH_MAX, 0x1000));
	check();
}

TEST_WITH(payloads_are_kept, setup, teardown)
{
	for (unsigned i = 0; i < 500; i++) {
		char text[64];

		memset(text, 'a' + i % 26, sizeof(text));
		add(1000 + 10 * i, record_data(RECORD_ENTRY, 1, 0x2000) | RECORD_MORE);
		add_bytes(text, 8 * (1 + i % 7));
		add(1004 + 10 * i, record_data(RECORD_EVENT, 1, 100001) | RECORD_MORE);
		add_bytes("\6\0abcdef", 8);
		add(1005 + 10 * i, record_data(RECORD_EXIT, 1, 0x2000) | RECORD_MORE);
		add_bytes(text, 8);
	}
	check();
	/* Payloads are texts, which take most of the bytes. */
	assert_true(packed_len < raw_len * 9 / 10);
}

TEST_WITH(anything_comes_back, setup, teardown)
{
	uint32_t seed = 7;

	for (raw_len = 0; raw_len < 300000; raw_len++) {
		seed = seed * 1103515245 + 12345;
		raw[raw_len] = seed >> 16;
	}
	check();
	memset(raw, 0, 200001);
	raw_len = 200001;
	check();
	raw_len = 3;
	assert_int_equal(check(), 1);
}

TEST_WITH(what_may_go_on_waits, setup, teardown)
{
	size_t len;

	add(10, record_data(RECORD_ENTRY, 1, 0x2000));
	add(11, record_data(RECORD_ENTRY, 2, 0x3000) | RECORD_MORE);
	add_bytes("argument", 8);
	/* The payload may go on in bytes that come later. */
	assert_int_equal(compact_encode(coder, 1, raw, raw_len, true, packed, &len), 16);
	assert_int_equal(compact_encode(coder, 1, raw, raw_len - 1, true, packed, &len), 16);
	assert_int_equal(compact_encode(coder, 1, raw, 15, true, packed, &len), 0);
	assert_int_equal(compact_encode(coder, 1, raw, raw_len, false, packed, &len), raw_len);
}

TEST_WITH(damage_is_noticed, setup, teardown)
{
	struct compact_head head;

	add_calls(300, 20);
	pack();
	assert_true(compact_head_decode(packed, &head));
	for (size_t i = 0; i < packed_len; i++) {
		struct compact_head wrong;

		packed[i] ^= 0x10;
		if (i < COMPACT_HEAD_BYTES)
			assert_false(compact_head_decode(packed, &wrong));
		else
			assert_false(
				compact_decode(coder, &head, packed + COMPACT_HEAD_BYTES, back));
		packed[i] ^= 0x10;
	}
	assert_true(compact_decode(coder, &head, packed + COMPACT_HEAD_BYTES, back));
	/* The head states too many bytes; the body is right. */
	head.raw_len += 16;
	assert_false(compact_decode(coder, &head, packed + COMPACT_HEAD_BYTES, back));
	/* The head states too few bytes: none is written beyond that length. */
	head.raw_len -= 2 * 16;
	memset(back, 0x5a, sizeof(back));
	assert_false(compact_decode(coder, &head, packed + COMPACT_HEAD_BYTES, back));
	for (size_t i = head.raw_len; i < sizeof(back); i++)
		assert_int_equal(back[i], 0x5a);
}

/* The checksum is in files, so it must never change. Bytes after the data do not count. */
TEST(sums_stay_as_they_are)
{
	static const struct {
		size_t len;
		uint64_t sum;
	} known[] = {
		{ 0, 0x5cc87708c87dc06dULL },	{ 1, 0x5cc87708c87dc06dULL },
		{ 31, 0x693b354a5bfc3112ULL },	{ 32, 0xee379774b786f1d8ULL },
		{ 33, 0x0650de920dbb40a7ULL },	{ 63, 0x5d3052cfbd103a16ULL },
		{ 100, 0x7aef42def31b187bULL },
	};
	uint8_t bytes[100];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 7 * i + 1;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		uint8_t *copy = exact_copy(bytes, known[i].len);

		assert_true(compact_sum(copy, known[i].len) == known[i].sum);
		free(copy);
	}
}

/* Each number of a head has its place, which must never change. */
TEST(heads_stay_as_they_are)
{
	static const uint8_t expected[44] = {
		0x55, 0x54, 0x43, 0x42, 0xfd, 0xff, 0xff, 0xff, /* UTCB, tid */
		0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* first_ns */
		0x30, 0x00, 0x01, 0x00, 0x21, 0x43, 0x00, 0x00, /* raw_len, nr_records */
		0x88, 0x77, 0x01, 0x00, 0x9f, 0x0f, 0x34, 0x12, /* body_len, nr_funcs, depth */
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, /* sum */
		0x05, 0x00, 0xa2, 0x3f,				/* least, tokens_len, is_cut */
	};
	const struct compact_head head = {
		.tid = -3,
		.first_ns = 0x0102030405060708ULL,
		.raw_len = 0x10030,
		.body_len = 0x17788,
		.tokens_len = 0x10002,
		.nr_records = 0x4321,
		.nr_funcs = 3999,
		.depth = 0x1234,
		.least = 1018,
		.is_cut = true,
		.sum = 0x8877665544332211ULL,
	};
	struct compact_head back_head;
	uint8_t bytes[COMPACT_HEAD_BYTES];

	memset(bytes, 0xaa, sizeof(bytes));
	compact_head_encode(&head, bytes);
	assert_memory_equal(bytes, expected, sizeof(expected));
	assert_int_equal(get_u32(bytes + 44, false), (uint32_t)compact_sum(expected, 44));
	assert_true(compact_head_decode(bytes, &back_head));
	assert_int_equal(back_head.tid, head.tid);
	assert_true(back_head.first_ns == head.first_ns);
	assert_int_equal(back_head.raw_len, head.raw_len);
	assert_int_equal(back_head.body_len, head.body_len);
	assert_int_equal(back_head.tokens_len, head.tokens_len);
	assert_int_equal(back_head.nr_records, head.nr_records);
	assert_int_equal(back_head.nr_funcs, head.nr_funcs);
	assert_int_equal(back_head.depth, head.depth);
	assert_int_equal(back_head.least, head.least);
	assert_true(back_head.is_cut);
	assert_true(back_head.sum == head.sum);
}

/* A head whose numbers contradict each other is refused, although its checksum is right. */
TEST(heads_at_their_borders)
{
	static const struct {
		uint32_t raw_len;
		uint32_t body_len;
		uint32_t tokens_len;
		uint16_t nr_funcs;
		bool is_good;
	} rows[] = {
		{ 16, 208, 100, 5, true },
		{ 16, 209, 100, 5, false },
		{ 15, 167, 100, 5, true },
		{ 15, 168, 100, 5, false },
		{ 0, 10, 10, 0, false },
		{ 1, 10, 10, 0, true },
		{ 1, 10, 11, 0, false },
		{ 1, 0, 0, 0, true },
		{ 1, 0, 1, 0, false },
		{ 131072, 458904, 458904, 4000, true },
		{ 131072, 458905, 458904, 4000, false },
		{ 131073, 100, 100, 4000, false },
		{ 131072, 100, 100, 4001, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct compact_head head = {
			.tid = 7,
			.raw_len = rows[i].raw_len,
			.body_len = rows[i].body_len,
			.tokens_len = rows[i].tokens_len,
			.nr_funcs = rows[i].nr_funcs,
		};
		uint8_t bytes[COMPACT_HEAD_BYTES];
		struct compact_head other;

		compact_head_encode(&head, bytes);
		assert_int_equal(compact_head_decode(bytes, &other), rows[i].is_good);
		/* The magic is wrong, but the checksum is right. */
		bytes[0]++;
		put_u32(bytes + 44, (uint32_t)compact_sum(bytes, 44), false);
		assert_false(compact_head_decode(bytes, &other));
	}
}
