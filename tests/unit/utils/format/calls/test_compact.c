/* Compact blocks: packed bytes come back unchanged, whatever they are. Damage is noticed. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/format/calls/compact.h"
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
 * main() stays open through the second block. In another block, the payload may be a record, too.
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

/* The checksum is in files, so it may never change. Bytes after the data do not count. */
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
