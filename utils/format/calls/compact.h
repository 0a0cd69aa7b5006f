/* Compact blocks of trace records, of which <tid>.cdat consists. */
#ifndef UTRAIL_FORMAT_COMPACT_H
#define UTRAIL_FORMAT_COMPACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * The blocks of doc/internals/compact.md. A block represents a piece of <tid>.dat, byte for byte,
 * and can be read without other blocks. Most of its bytes are call records, which are compressed;
 * other bytes are stored unchanged.
 */

/* The most bytes of <tid>.dat in one block. */
#define COMPACT_RAW_MAX	   (128U << 10)
#define COMPACT_HEAD_BYTES 48
/* The most functions that a block numbers. */
#define COMPACT_FUNCS_MAX  4000
/* The number of bytes after a body that must be readable. */
#define COMPACT_SLACK	   16

/*
 * The header of a block.
 *
 * @tid: the task of the records
 * @first_ns: the time of the first record of a call; 0: there is none
 * @raw_len: bytes of <tid>.dat that the block represents; @body_len: bytes after the header:
 *           @tokens_len bytes of tokens for records, and then the functions
 * @nr_records: number of records, with LOST ones
 * @nr_funcs: number of functions that the block numbers
 * @depth: number of calls open at the block's start, according to its first record
 * @least: this many of those calls stay open until the block's end
 * @is_cut: the block's end is not the end of a record
 * @sum: checksum of the body
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
 * The state of encoding or decoding a block: about 80 kB on the heap, for one thread at a time.
 * compact_coder_create() returns NULL when memory is short.
 */
struct compact_coder;
struct compact_coder *compact_coder_create(void);
void compact_coder_destroy(struct compact_coder *coder);
#define cleanup_compact_coder cleanup(compact_coder_destroy_fn)
static inline void compact_coder_destroy_fn(struct compact_coder **coder)
{
	compact_coder_destroy(*coder);
}

/* Returns the largest number of bytes of the blocks for @raw_len bytes of records. */
size_t compact_bound(size_t raw_len);

/*
 * Write one block to @out for the @len bytes of <tid>.dat at @raw, which begin with a record; @len
 * is at least 1. @out has room for compact_bound(COMPACT_RAW_MAX). *@out_len becomes the block's
 * length.
 *
 * Returns the number of bytes of @raw in the block: all of them, unless these are too many for one
 * block. @has_more: more bytes will follow, so the last record may be incomplete, and the result
 * may be 0.
 */
size_t compact_encode(struct compact_coder *coder, int32_t tid, const uint8_t *raw, size_t len,
		      bool has_more, uint8_t *out, size_t *out_len);

/*
 * Decode the header of a block from COMPACT_HEAD_BYTES at @data. False when there is no header, or
 * it is damaged.
 */
bool compact_head_decode(const uint8_t *data, struct compact_head *head);

/* Returns the checksum of a body. */
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
 * @in: the next token in the body; @end: the end of the tokens. COMPACT_SLACK bytes after the body
 * are readable
 */
struct compact_block {
	struct compact_coder *coder;
	const uint8_t *in;
	const uint8_t *end;
};

/* Open a block; the arguments are those of compact_decode(). False when it is damaged. */
bool compact_block_open(struct compact_block *block, struct compact_coder *coder,
			const struct compact_head *head, const uint8_t *body);

/*
 * To @raw, write the bytes that the rest of the block represents; there must be @len of them. False
 * when the block is damaged; then the content of @raw is undefined.
 */
bool compact_block_rest(struct compact_block *block, uint8_t *raw, size_t len);

/* Returns the time of the next record if that is a call without payload; otherwise 0. */
uint64_t compact_block_next_ns(struct compact_block *block);

#endif
