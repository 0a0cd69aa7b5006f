/* The blocks of <tid>.cdat, which represent trace records. */
#ifndef UTRAIL_FORMAT_COMPACT_H
#define UTRAIL_FORMAT_COMPACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A block represents a piece of <tid>.dat, and can be read without other blocks. Only records of
 * calls are compressed (doc/internals/compact.md).
 */

/* The maximum number of bytes of <tid>.dat in one block. */
#define COMPACT_RAW_MAX	   (128U << 10)
#define COMPACT_HEAD_BYTES 48
/* The maximum number of functions that a block lists. */
#define COMPACT_FUNCS_MAX  4000
/* A decoder may read this number of bytes after the end of a body. */
#define COMPACT_SLACK	   16

/*
 * The header of a block.
 *
 * @tid: the task of the records
 * @first_ns: time of the block's first ENTRY or EXIT record; 0: the block has no such record
 * @raw_len: bytes of <tid>.dat that the block represents
 * @body_len: the bytes after the header: @tokens_len bytes of tokens, and then a list of functions
 * @nr_records: the number of records, including LOST records
 * @nr_funcs: number of functions in the list
 * @depth: the number of calls that are open at the start of the block, according to the block's
 *         first record
 * @least: a lower limit of the number of calls that stay open from the start to the end of the
 *         block
 * @is_cut: the block ends within a record
 * @sum: compact_sum() of the body
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
 * The state for encoding or decoding blocks. Only one thread at a time may use it. It takes about
 * 73 kB on the heap. compact_coder_create() returns NULL when memory is short.
 */
struct compact_coder;
struct compact_coder *compact_coder_create(void);
void compact_coder_destroy(struct compact_coder *coder);
#define cleanup_compact_coder cleanup(compact_coder_destroy_fn)
static inline void compact_coder_destroy_fn(struct compact_coder **coder)
{
	compact_coder_destroy(*coder);
}

/* Returns the maximum number of bytes that the blocks for @raw_len bytes of records can have. */
size_t compact_bound(size_t raw_len);

/*
 * Write one block.
 *
 * @raw: @len bytes of <tid>.dat, which begin with a record; @len is at least 1
 * @has_more: more bytes of <tid>.dat will follow @raw. In this case, the block leaves out an
 *         incomplete last record, if less than COMPACT_RAW_MAX bytes of the record are in @raw
 * @out: has room for compact_bound(COMPACT_RAW_MAX)
 * @out_len: becomes the length of the block
 *
 * Returns the number of bytes of @raw that the block represents. This number is less than @len when
 * the block is full or leaves out a record. The number can be 0 only with @has_more.
 */
size_t compact_encode(struct compact_coder *coder, int32_t tid, const uint8_t *raw, size_t len,
		      bool has_more, uint8_t *out, size_t *out_len);

/*
 * Decode the header in the COMPACT_HEAD_BYTES bytes at @data. Returns false if the bytes are not a
 * valid header.
 */
bool compact_head_decode(const uint8_t *data, struct compact_head *head);

/* Returns the checksum of a body. */
uint64_t compact_sum(const uint8_t *data, size_t len);

/*
 * Decode the block with the header @head and the body @body. Write to @raw the head->raw_len bytes
 * that the block represents. Returns false, with @raw undefined, if the block is damaged.
 *
 * @body: head->body_len bytes. COMPACT_SLACK more bytes must be readable after the body
 */
bool compact_decode(struct compact_coder *coder, const struct compact_head *head,
		    const uint8_t *body, uint8_t *raw);

/*
 * A block from which calls are read one by one (compact_step.h). After some of the calls were read,
 * compact_block_rest() can decode the rest of the block.
 *
 * @coder: borrowed. A coder can have only one open block at a time
 * @in: the next token in the body; after the body, COMPACT_SLACK bytes are readable
 * @end: the end of the tokens
 */
struct compact_block {
	struct compact_coder *coder;
	const uint8_t *in;
	const uint8_t *end;
};

/*
 * Open a block. @coder, @head and @body are the same as in compact_decode(). Returns false when the
 * block is damaged.
 */
bool compact_block_open(struct compact_block *block, struct compact_coder *coder,
			const struct compact_head *head, const uint8_t *body);

/*
 * Write to @raw the @len bytes that the rest of the block represents. Returns false, with @raw
 * undefined, if the block is damaged, or if its rest does not represent exactly @len bytes.
 */
bool compact_block_rest(struct compact_block *block, uint8_t *raw, size_t len);

/* Returns the time of the next record if it is a call without payload, or else 0. */
uint64_t compact_block_next_ns(struct compact_block *block);

#endif
