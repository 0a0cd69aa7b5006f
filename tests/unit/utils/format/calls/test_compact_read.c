/* Reading compact blocks: each token, both sides of each of its bounds, and damage. */
#include "tests/unit/lib/unit.h"

#include "tests/unit/lib/read/by_calls.h"
#include "utils/base/containers/strbuf.h"
#include "utils/format/bytes.h"
#include "utils/format/calls/compact.h"

static struct compact_coder *coder;

static int setup(void **state)
{
	coder = compact_coder_create();
	return coder ? 0 : -1;
}

static int teardown(void **state)
{
	compact_coder_destroy(coder);
	return 0;
}

static size_t parse_hex(const char *hex, uint8_t *out)
{
	size_t nr = 0;

	for (; *hex; hex += *hex == ' ' ? 1 : 2) {
		unsigned byte;

		if (*hex == ' ')
			continue;
		assert_int_equal(sscanf(hex, "%2x", &byte), 1);
		out[nr++] = byte;
	}
	return nr;
}

/* Writes "TIME{ADDR DEPTH" and "TIME}ADDR DEPTH", with "+" for MORE. Other words are in hex. */
static void put_records(const uint8_t *raw, size_t len, struct strbuf *out)
{
	for (size_t at = 0; at + 8 <= len; at += 8) {
		uint64_t word = get_u64(raw + at, false);
		uint64_t data = at + 16 <= len ? get_u64(raw + at + 8, false) : 0;

		if (out->len)
			strbuf_addch(out, ' ');
		if (!record_magic_is_good(data) || record_type(data) > RECORD_EXIT) {
			strbuf_addf(out, "%llx", (unsigned long long)word);
			continue;
		}
		strbuf_addf(out, "%llu%c%llx/%u%s", (unsigned long long)word,
			    record_type(data) == RECORD_EXIT ? '}' : '{',
			    (unsigned long long)record_addr(data), record_depth(data),
			    record_has_more(data) ? "+" : "");
		at += 8;
	}
	if (len % 8)
		strbuf_addf(out, " and %zu", len % 8);
}

/*
 * Decodes a block that stands for @raw_len bytes. @tokens are in hex. There are @nr_funcs
 * functions: 0x10, 0x20 and so on.
 */
static void check(const char *tokens, unsigned nr_funcs, size_t raw_len, const char *expected)
{
	struct strbuf out cleanup_strbuf = { 0 };
	struct compact_head head = { .raw_len = raw_len, .nr_funcs = nr_funcs };
	uint8_t body[256 + COMPACT_SLACK] = { 0 };
	uint8_t *raw = malloc(raw_len + 1);
	uint8_t *copy;
	bool is_good;

	head.tokens_len = parse_hex(tokens, body);
	head.body_len = head.tokens_len;
	for (unsigned i = 0; i < nr_funcs; i++)
		body[head.body_len++] = 0x20;
	head.sum = compact_sum(body, head.body_len);
	/* The bytes after the body belong to another block. */
	memset(body + head.body_len, 0xff, COMPACT_SLACK);
	copy = exact_copy(body, head.body_len + COMPACT_SLACK);
	memset(raw, 0x5a, raw_len + 1);
	is_good = compact_decode(coder, &head, copy, raw);
	assert_int_equal(raw[raw_len], 0x5a);
	if (is_good)
		put_records(raw, raw_len, &out);
	assert_string_equal(is_good ? strbuf_str(&out) : "damaged", expected);
	/* Reading call by call gives the same, with a time limit and without. */
	for (uint64_t until_ns = 0; until_ns < 100; until_ns += 7) {
		uint8_t *same = malloc(raw_len + 1);

		assert_true(decode_by_calls(coder, &head, copy, until_ns, same) == is_good);
		if (is_good)
			assert_memory_equal(same, raw, raw_len);
		free(same);
	}
	free(copy);
	free(raw);
}

TEST_WITH(numbers_of_functions, setup, teardown)
{
	check("02 01", 1, 16, "0{10/0");
	check("02 02", 2, 16, "0{20/0");
	check("02 02", 1, 16, "damaged");
	/* Number 0 is the EXIT of the open call. */
	check("02 01 02 00", 1, 32, "0{10/0 0}10/0");
	check("02 00", 1, 16, "damaged");
	/* A number without a function is damage. */
	check("02 df", 1, 16, "damaged");
	check("02 e0 00", 1, 16, "damaged");
}

TEST_WITH(numbers_of_two_bytes, setup, teardown)
{
	static const unsigned numbers[] = { 223, 224, 225, 479, 480, 481, 2000, 3999, 4000 };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		unsigned number = numbers[i];

		for (unsigned slow = 0; slow < 2; slow++) {
			uint8_t *body = calloc(1, 64 + 4000 + COMPACT_SLACK);
			struct compact_head head = { .raw_len = 16, .nr_funcs = number };
			uint8_t raw[16];
			size_t at = 0;

			/* After a PAYLOAD of no words the next token takes the slow path. */
			if (slow) {
				body[at++] = TOKEN_ESCAPE | ESCAPE_PAYLOAD << TOKEN_BITS;
				body[at++] = 0;
			}
			body[at++] = TOKEN_NUMBER;
			if (number < NUMBER_SHORT) {
				body[at++] = number;
			} else {
				body[at++] = NUMBER_SHORT + ((number - NUMBER_SHORT) >> 8);
				body[at++] = number - NUMBER_SHORT;
			}
			head.tokens_len = at;
			memset(body + at, 2, number);
			head.body_len = at + number;
			head.sum = compact_sum(body, head.body_len);
			assert_true(compact_decode(coder, &head, body, raw));
			assert_int_equal(record_addr(get_u64(raw + 8, false)), number);
			/* With one function fewer, the number has no function. */
			head.nr_funcs--;
			head.body_len--;
			head.sum = compact_sum(body, head.body_len);
			assert_false(compact_decode(coder, &head, body, raw));
			free(body);
		}
	}
}

/* Times of all lengths, on the fast path and on the slow one. */
TEST_WITH(times, setup, teardown)
{
	check("06 01", 1, 16, "1{10/0");
	check("be 01", 1, 16, "47{10/0");
	check("c2 00 01", 1, 16, "48{10/0");
	check("c2 ff 01", 1, 16, "303{10/0");
	check("c6 00 01", 1, 16, "304{10/0");
	check("fa ff 01", 1, 16, "3887{10/0");
	check("fe b0 1e 01", 1, 16, "3888{10/0");
	check("fe 80 80 80 80 80 80 80 80 80 01 01", 1, 16, "9223372036854775808{10/0");
	check("fe 80 80 80 80 80 80 80 80 80 80 01", 1, 16, "damaged");
	check("07 00 06 01", 1, 16, "1{10/0+");
	check("07 00 be 01", 1, 16, "47{10/0+");
	check("07 00 c2 00 01", 1, 16, "48{10/0+");
	check("07 00 c2 ff 01", 1, 16, "303{10/0+");
	check("07 00 c6 00 01", 1, 16, "304{10/0+");
	check("07 00 fa ff 01", 1, 16, "3887{10/0+");
	check("07 00 fe b0 1e 01", 1, 16, "3888{10/0+");
	/* Times are differences, which add up. */
	check("06 01 0a 00 06 01", 1, 48, "1{10/0 3}10/0 4{10/0");
}

TEST_WITH(what_came_last_and_before_that, setup, teardown)
{
	/* Three functions take turns; then a function calls another one, or does not. */
	check("0201 00 0601 00 0602 00 0601 00 04 00 0602 00 0603 00 0602 00 0601 00 0603 00 0603 "
	      "00",
	      3, 352,
	      "0{10/0 0}10/0 1{10/0 1}10/0 2{20/0 2}20/0 3{10/0 3}10/0 4{20/0 4}20/0 5{20/0 5}20/0 "
	      "6{30/0 6}30/0 7{20/0 7}20/0 8{10/0 8}10/0 9{30/0 9}30/0 10{30/0 10}30/0");
	check("0201 0202 00 00 0201 01 00 01 00 00", 2, 160,
	      "0{10/0 0{20/1 0}20/1 0}10/0 0{10/0 0}10/0 0{10/0 0{20/1 0}20/1 0}10/0");
	/* The same function words on the slow path, after PAYLOAD. */
	check("0700 0201 0700 0202 0700 00 0700 00 0700 0201 0700 01 0700 00 0700 01 0700 00 0700 "
	      "00",
	      2, 160,
	      "0{10/0+ 0{20/1+ 0}20/1+ 0}10/0+ 0{10/0+ 0}10/0+ 0{10/0+ 0{20/1+ 0}20/1+ 0}10/0+");
	check("00", 0, 16, "damaged");
	check("01", 0, 16, "damaged");
	check("07 00 00", 0, 16, "damaged");
}

TEST_WITH(escapes, setup, teardown)
{
	/* The tokens WORDS and BYTES. */
	check("03 01 0102030405060708", 0, 8, "807060504030201");
	check("03 00", 0, 0, "");
	check("17 03 010203", 0, 3, " and 3");
	check("03 02 0102030405060708", 0, 16, "damaged");
	check("03 01 0102030405060708", 0, 7, "damaged");
	check("17 04 010203", 0, 4, "damaged");
	check("03 80", 0, 0, "damaged");
	/* The tokens DEPTH, TIME and TOP. */
	check("0f 0500 02 01", 1, 16, "0{10/5");
	/*
	 * DEPTH opens calls of unknown functions. The word of their EXIT lacks the magic, so it is
	 * not the word of a record.
	 */
	check("0f 0500 02 00", 1, 16, "0 101");
	check("13 0102030405060708 06 01", 1, 16, "578437695752307202{10/0");
	check("0f 0100 0b 02 02 00", 2, 16, "0}20/0");
	check("0f 0100 0b 03 02 00", 2, 16, "damaged");
	check("0b 01 02 00", 1, 16, "damaged");
	/* No other tokens exist. */
	check("1b", 0, 0, "damaged");
	check("ff", 0, 0, "damaged");
	/* A depth may be larger than a record can state. */
	check("0f ff03 02 01", 1, 16, "0{10/1023");
	check("0f 0004 02 01", 1, 16, "0{10/1023");
	check("0f ffff 02 01 02 00", 1, 32, "0{10/1023 0}10/1023");
	check("07 00 02 01", 1, 16, "0{10/0+");
	check("0f ffff 07 00 02 01", 1, 16, "0{10/1023+");
}

TEST_WITH(payloads, setup, teardown)
{
	check("07 01 02 01 0102030405060708", 1, 24, "0{10/0+ 807060504030201");
	check("07 01 02 01 0102030405060708 06 00", 1, 40, "0{10/0+ 807060504030201 1}10/0");
	check("07 01 02 01 01020304050607", 1, 24, "damaged");
	check("07 01 02 01 0102030405060708", 1, 16, "damaged");
	/* A payload without a record is damage. */
	check("07 01", 0, 0, "damaged");
	check("07 80", 0, 0, "damaged");
	check("07 81 80 08 02 01", 1, 16, "damaged");
}

/* Exactly as many bytes as the head states are accepted. */
TEST_WITH(lengths_must_fit, setup, teardown)
{
	check("02 01", 1, 15, "damaged");
	check("02 01", 1, 17, "damaged");
	check("02 01", 1, 32, "damaged");
	check("02 01 02 00", 1, 16, "damaged");
	check("07 00 02 01", 1, 15, "damaged");
	check("", 0, 0, "");
	check("", 0, 1, "damaged");
	/* A token is cut by the end of the block. */
	check("02", 1, 16, "damaged");
	check("c2 00", 1, 16, "damaged");
	check("0f 05", 0, 0, "damaged");
	check("13 0102", 0, 0, "damaged");
}

TEST_WITH(exits_of_nothing, setup, teardown)
{
	check("02 01 02 00 02 00", 1, 48, "damaged");
	check("07 00 02 00", 1, 16, "damaged");
	check("02 01 02 01 02 00 02 00", 1, 64, "0{10/0 0{10/1 0}10/1 0}10/0");
	/* The block begins within two calls whose functions are not known. */
	check("0f 0200 02 01 02 00 02 00 02 00", 1, 64, "0{10/2 0}10/2 0 41 0 1");
}

TEST_WITH(functions_by_their_distances, setup, teardown)
{
	static const struct {
		uint8_t bytes[12];
		size_t len;
		uint64_t addr;
		bool is_good;
	} rows[] = {
		{ { 0x00 }, 1, 0, true },
		{ { 0x02 }, 1, 1, true },
		{ { 0x7e }, 1, 63, true },
		{ { 0x80, 0x01 }, 2, 64, true },
		{ { 0x01 }, 1, RECORD_ADDR_MASK, true },
		{ { 0x80 }, 1, 0, false },
		{ { 0x02, 0x02 }, 2, 0, false },
		{ { 0 }, 0, 0, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t body[64] = { TOKEN_NUMBER, 1 };
		struct compact_head head = {
			.raw_len = 16, .nr_funcs = 1, .tokens_len = 2, .body_len = 2 + rows[i].len
		};
		uint8_t raw[16];

		memcpy(body + 2, rows[i].bytes, rows[i].len);
		head.sum = compact_sum(body, head.body_len);
		assert_int_equal(compact_decode(coder, &head, body, raw), rows[i].is_good);
		if (rows[i].is_good)
			assert_int_equal(record_addr(get_u64(raw + 8, false)), rows[i].addr);
		head.sum++;
		assert_false(compact_decode(coder, &head, body, raw));
	}
}

/* Opens a block of @tokens in hex, with one function. @body: the block's memory, which is zeros */
static void open_tokens(struct compact_block *block, const char *tokens, uint8_t *body)
{
	struct compact_head head = { .raw_len = 16, .nr_funcs = 1 };

	head.tokens_len = parse_hex(tokens, body);
	head.body_len = head.tokens_len + 1;
	body[head.tokens_len] = 0x20;
	head.sum = compact_sum(body, head.body_len);
	assert_true(compact_block_open(block, coder, &head, body));
}

/*
 * compact_block_next_ns() skips escapes that are not records. It changes nothing else in the state,
 * so a second call returns the same time.
 */
TEST_WITH(the_next_time, setup, teardown)
{
	static const struct {
		const char *tokens;
		uint64_t next_ns;
	} rows[] = {
		{ "16 01", 5 },				      /* a call */
		{ "13 e8 03 00 00 00 00 00 00 16 01", 1005 }, /* after a time */
		{ "0f 03 00 16 01", 5 },		      /* after a depth */
		{ "fe c8 01 01", 200 },			      /* a long delta */
		{ "03 01 00 00 00 00 00 00 00 00", 0 },	      /* words */
		{ "07 00 16 01", 0 },			      /* a call with payload */
		{ "17 00", 0 },				      /* bytes */
		{ "1b", 0 },				      /* an unknown token */
		{ "", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t body[64 + COMPACT_SLACK] = { 0 };
		struct compact_block block;
		struct compact_call call;

		open_tokens(&block, rows[i].tokens, body);
		assert_int_equal(compact_block_next_ns(&block), rows[i].next_ns);
		assert_int_equal(compact_block_next_ns(&block), rows[i].next_ns);
		if (!rows[i].next_ns)
			continue;
		assert_int_equal(compact_block_other(&block, rows[i].next_ns - 1, &call),
				 COMPACT_LATER);
		assert_int_equal(compact_block_other(&block, rows[i].next_ns, &call), COMPACT_CALL);
		assert_int_equal(call.time_ns, rows[i].next_ns);
		assert_int_equal(call.number, 1);
		assert_int_equal(compact_block_other(&block, UINT64_MAX, &call), COMPACT_END);
	}
}

/* After damage, a block has no more calls. */
TEST_WITH(damage_ends_a_block, setup, teardown)
{
	static const struct {
		const char *tokens;
		enum compact_found first;
		enum compact_found second;
	} rows[] = {
		{ "02 01 02 00", COMPACT_CALL, COMPACT_CALL },
		{ "02 01", COMPACT_CALL, COMPACT_END },
		{ "02 01 1b", COMPACT_CALL, COMPACT_WRONG },
		{ "1b 02 01", COMPACT_WRONG, COMPACT_WRONG },
		{ "02 00 02 01", COMPACT_WRONG, COMPACT_WRONG },
		{ "02 02 02 01", COMPACT_WRONG, COMPACT_WRONG },
		{ "fe 80", COMPACT_WRONG, COMPACT_WRONG },
		{ "0b 01 02 01", COMPACT_WRONG, COMPACT_WRONG },
		{ "0f 05", COMPACT_WRONG, COMPACT_WRONG },
		{ "0f 05 00", COMPACT_END, COMPACT_END },
		{ "", COMPACT_END, COMPACT_END },
		{ "03 00 02 01", COMPACT_BYTES, COMPACT_BYTES },
		{ "07 00 02 01", COMPACT_BYTES, COMPACT_BYTES },
		{ "17 00", COMPACT_BYTES, COMPACT_BYTES },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t body[64 + COMPACT_SLACK] = { 0 };
		struct compact_block block;
		struct compact_call call;

		open_tokens(&block, rows[i].tokens, body);
		assert_int_equal(compact_block_other(&block, UINT64_MAX, &call), rows[i].first);
		assert_int_equal(compact_block_other(&block, UINT64_MAX, &call), rows[i].second);
		if (rows[i].second != COMPACT_WRONG)
			continue;
		assert_int_equal(compact_block_other(&block, UINT64_MAX, &call), COMPACT_WRONG);
		assert_int_equal(compact_block_next_ns(&block), 0);
		assert_false(compact_block_rest(&block, body, 0));
	}
}

/* The limit of a varint: a count of words that is the most, and one that is too large. */
TEST_WITH(counts_of_words, setup, teardown)
{
	/* A block stands for 131072 bytes at most, so it cannot have as many words. */
	check("07 80 80 08 02 01", 1, 16, "damaged");
	check("03 80 80 08", 0, 0, "damaged");
	check("03 81 80 08", 0, 0, "damaged");
	check("17 00", 0, 0, "");
	check("17 80 00", 0, 0, "");
	check("17 80 80 80 80 80 80 80 80 80 00", 0, 0, "");
	check("17 80 80 80 80 80 80 80 80 80 80 00", 0, 0, "damaged");
	/* 2^61 words have 2^64 bytes. In 64 bits this number of bytes would be 0. */
	check("03 80 80 80 80 80 80 80 80 20", 0, 0, "damaged");
}
