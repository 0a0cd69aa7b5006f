/* Compact blocks of trace records, of which <tid>.cdat consists. */
#ifndef UTRAIL_FORMAT_COMPACT_H
#define UTRAIL_FORMAT_COMPACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * doc/internals/compact.md. A block represents a piece of <tid>.dat, byte for byte, and can be read
 * without other blocks. Most of its bytes are call records, which are compressed; other bytes are
 * stored unchanged.
 */

/* Bytes of <tid>.dat in one block, at most. */
#define COMPACT_RAW_MAX	   (128U << 10)
#define COMPACT_HEAD_BYTES 48
/* Functions that a block numbers, at most. */
#define COMPACT_FUNCS_MAX  4000
/* So many bytes after a body must be readable. */
#define COMPACT_SLACK	   16

/*
 * The header of a block.
 *
 * @tid: the task of the records
 * @first_ns: the time of the first record of a call; 0: there is none
 * @raw_len: bytes of <tid>.dat that it represents; @body_len: bytes after the header: first
 *           @tokens_len of tokens for records, then the functions
 * @nr_records: LOST ones among them
 * @nr_funcs: functions that it numbers
 * @depth: calls that are open at its start, according to its first record
 * @least: at least so many calls are open all through it, and are the same ones
 * @is_cut: it does not end where a record ends
 * @sum: of the body
 */
struct compact_head {
	int32_t tid;
	uint64_t first_ns;
	uint32_t raw_len;
	uint32_t body_len;
	uint32_t tokens_len;
	uint32_t nr_records;
	uint16_t nr_funcs;
	uint16_t depth;
	uint16_t least;
	bool is_cut;
	uint64_t sum;
};

/*
 * The state of encoding or decoding a block. From the heap, about 80 kB; for one thread at a time.
 * NULL when memory is short.
 */
struct compact_coder;
struct compact_coder *compact_coder_create(void);
void compact_coder_destroy(struct compact_coder *coder);
#define cleanup_compact_coder cleanup(compact_coder_destroy_fn)
static inline void compact_coder_destroy_fn(struct compact_coder **coder)
{
	compact_coder_destroy(*coder);
}

/* The maximum of bytes of the blocks for @raw_len bytes. */
size_t compact_bound(size_t raw_len);

/*
 * Write one block for the bytes of <tid>.dat that begin at @raw (at the start of a record) to @out,
 * which has room for compact_bound(COMPACT_RAW_MAX). @len is at least one. *@out_len: of the block.
 *
 * Returns the number of bytes of @raw in the block: all, unless there are too many for one. With
 * @has_more others follow, and the last record may be incomplete: then the result may be 0.
 */
size_t compact_encode(struct compact_coder *coder, int32_t tid, const uint8_t *raw, size_t len,
		      bool has_more, uint8_t *out, size_t *out_len);

/*
 * Decode the header of a block from COMPACT_HEAD_BYTES at @data. False when there is none, or it is
 * damaged.
 */
bool compact_head_decode(const uint8_t *data, struct compact_head *head);

/* The sum of a body. */
uint64_t compact_sum(const uint8_t *data, size_t len);

/*
 * Write the raw_len bytes that a block represents to @raw. @body has body_len bytes, and
 * COMPACT_SLACK after them. False when the block is damaged; then the content of @raw is undefined.
 */
bool compact_decode(struct compact_coder *coder, const struct compact_head *head,
		    const uint8_t *body, uint8_t *raw);

/*
 * A block that is read call by call, for users that need the calls and not the bytes of their
 * records: see utils/format/calls/compact_step.h. The rest can be decoded to bytes at any time.
 *
 * @coder: borrowed; only one block at a time may be open with it
 * @in: the next token, in the body, which COMPACT_SLACK bytes follow; @end: after the last one
 */
struct compact_block {
	struct compact_coder *coder;
	const uint8_t *in;
	const uint8_t *end;
};

/* Open a block: arguments as for compact_decode(). False when it is damaged. */
bool compact_block_open(struct compact_block *block, struct compact_coder *coder,
			const struct compact_head *head, const uint8_t *body);

/*
 * Write the rest of it, which must be @len bytes, to @raw. False when it is damaged; then the
 * content of @raw is undefined.
 */
bool compact_block_rest(struct compact_block *block, uint8_t *raw, size_t len);

/* The time of the next record, if it is a call without payload; otherwise 0. */
uint64_t compact_block_next_ns(struct compact_block *block);

#endif
