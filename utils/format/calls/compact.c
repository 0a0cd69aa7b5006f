/*
 * Headers and checksums of compact blocks (see compact.h). doc/internals/compact.md describes the
 * layout.
 */
#include "utils/format/calls/compact.h"

#include <stdlib.h>

#include "utils/format/bytes.h"
#include "utils/format/calls/compact_tokens.h"

#define MAGIC 0x42435455U /* "UTCB" */

struct compact_coder *compact_coder_create(void)
{
	return malloc(sizeof(struct compact_coder));
}

void compact_coder_destroy(struct compact_coder *coder)
{
	free(coder);
}

#define SUM_FACTOR 0x9e3779b97f4a7c15ULL

static inline uint64_t sum_word(uint64_t sum, const uint8_t *word)
{
	return (sum ^ load_word(word)) * SUM_FACTOR;
}

/*
 * HOT. The function computes four independent sums, so that the processor can compute the four sums
 * in parallel. If a word of @data is wrong, the result is almost certainly different.
 */
uint64_t compact_sum(const uint8_t *data, size_t len)
{
	uint64_t a = len;
	uint64_t b = 1;
	uint64_t c = 2;
	uint64_t d = 3;
	uint8_t rest[32] = { 0 };
	size_t at = 0;

	for (; at + 32 <= len; at += 32) {
		a = sum_word(a, data + at);
		b = sum_word(b, data + at + 8);
		c = sum_word(c, data + at + 16);
		d = sum_word(d, data + at + 24);
		a ^= a >> 32;
		b ^= b >> 32;
		c ^= c >> 32;
		d ^= d >> 32;
	}
	memcpy(rest, data + at, len - at);

	const uint64_t sums[4] = {
		sum_word(a, rest),
		sum_word(b, rest + 8),
		sum_word(c, rest + 16),
		sum_word(d, rest + 24),
	};
	uint64_t sum = 0;

	for (int i = 0; i < 4; i++)
		sum = ((sum ^ sums[i]) * SUM_FACTOR) ^ (sum >> 29);
	return sum;
}

size_t compact_bound(size_t raw_len)
{
	/*
	 * 16 bytes of records need at most 40 bytes: two escapes with words (6), TOP (3), DEPTH
	 * (3), TIME (9), a token (11), a new function (8). The words that follow the escapes have
	 * at most @raw_len bytes.
	 */
	return (raw_len / 16 + 1) * 40 + raw_len + COMPACT_HEAD_BYTES + 64;
}

/*
 * The word at offset 40 has three fields: @least in the highest 12 bits, @tokens_len in the next 19
 * bits, and @is_cut in the lowest bit. 19 bits suffice for @tokens_len, because a body has less
 * than half a megabyte.
 */
#define LEAST_SHIFT 20
#define TOKENS_MASK ((1U << LEAST_SHIFT) - 1)

void compact_head_encode(const struct compact_head *head, uint8_t *out)
{
	memset(out, 0, COMPACT_HEAD_BYTES);
	put_u32(out, MAGIC, false);
	put_u32(out + 4, head->tid, false);
	put_u64(out + 8, head->first_ns, false);
	put_u32(out + 16, head->raw_len, false);
	put_u32(out + 20, head->nr_records, false);
	put_u32(out + 24, head->body_len, false);
	put_u16(out + 28, head->nr_funcs, false);
	put_u16(out + 30, head->depth, false);
	put_u64(out + 32, head->sum, false);
	put_u32(out + 40,
		(uint32_t)head->least << LEAST_SHIFT | head->tokens_len << 1 | head->is_cut, false);
	put_u32(out + 44, (uint32_t)compact_sum(out, 44), false);
}

bool compact_head_decode(const uint8_t *data, struct compact_head *head)
{
	if (get_u32(data, false) != MAGIC ||
	    get_u32(data + 44, false) != (uint32_t)compact_sum(data, 44))
		return false;
	*head = (struct compact_head){
		.tid = (int32_t)get_u32(data + 4, false),
		.first_ns = get_u64(data + 8, false),
		.raw_len = get_u32(data + 16, false),
		.nr_records = get_u32(data + 20, false),
		.body_len = get_u32(data + 24, false),
		.nr_funcs = get_u16(data + 28, false),
		.depth = get_u16(data + 30, false),
		.sum = get_u64(data + 32, false),
		.least = get_u32(data + 40, false) >> LEAST_SHIFT,
		.tokens_len = (get_u32(data + 40, false) & TOKENS_MASK) >> 1,
		.is_cut = get_u32(data + 40, false) & 1,
	};
	return head->raw_len > 0 && head->raw_len <= COMPACT_RAW_MAX &&
	       head->body_len <= compact_bound(head->raw_len) &&
	       head->tokens_len <= head->body_len && head->nr_funcs <= COMPACT_FUNCS_MAX;
}
