/* Decodes the blocks of <tid>.cdat to the bytes that a <tid>.dat would have. */
#ifndef UTRAIL_PIPELINE_COMPACT_FILE_H
#define UTRAIL_PIPELINE_COMPACT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/format/calls/compact.h"

/*
 * One block (utils/format/calls/compact.h): its @len bytes at offset @at represent the @raw_len
 * bytes at offset @raw of <tid>.dat. A block with a damaged header represents a LOST record.
 */
struct compact_place {
	uint64_t raw;
	uint64_t at;
	uint32_t raw_len;
	uint32_t len;
	bool has_head;
};

/*
 * The blocks of one file, in the order of the file. Starts as { 0 }, ends with
 * compact_file_deinit().
 *
 * @raw_bytes: the number of bytes of <tid>.dat that the blocks represent
 * @end: end of the last block in the file
 * @is_torn: an incomplete block follows
 */
struct compact_file {
	struct compact_place *places;
	size_t nr;
	uint64_t raw_bytes;
	uint64_t end;
	bool is_torn;
};

/*
 * Find the blocks after the last known block. After a damaged header, search for the next header.
 * No other thread may read @file meanwhile. Returns 0, or a negative errno.
 */
int compact_file_look(struct compact_file *file, int fd);
void compact_file_deinit(struct compact_file *file);

/* Find the block that has the byte at offset @raw of <tid>.dat. Returns NULL if there is none. */
const struct compact_place *compact_file_place(const struct compact_file *file, uint64_t raw);

/*
 * Read the header of the block at @place. Returns false if the block has no header, or if the file
 * has changed.
 */
bool compact_file_head(const struct compact_place *place, int fd, struct compact_head *head);

/*
 * Read the block at @place into @bytes, and write COMPACT_SLACK zeros after the block. The block
 * must have a header. Returns 1 with the header in *@head, 0 if the block is gone, or a negative
 * errno.
 */
int compact_file_load(const struct compact_place *place, int fd, uint8_t *bytes,
		      struct compact_head *head);

/*
 * Write a LOST record to @out. This record reports the loss of @nr records (0 counts as 1). Returns
 * the length of the LOST record in bytes.
 */
size_t compact_file_put_lost(uint32_t nr, uint8_t *out);

/*
 * The position of a read, and its result. The caller sets @offset and @may_skip.
 *
 * @offset: the offset in <tid>.dat at which the read begins; after the read, the offset of the next
 *         byte
 * @may_skip: the caller permits that the result begins with bytes before @offset
 * @skip: the result begins this many bytes before the offset that the caller asked for
 * @is_whole: the result ends with the end of a record
 * @damaged_at: the offset in <tid>.cdat of a damaged block, which a LOST record replaces;
 *              UINT64_MAX: none
 */
struct compact_read {
	uint64_t offset;
	bool may_skip;
	size_t skip;
	bool is_whole;
	uint64_t damaged_at;
};

/*
 * Read decoded bytes of @file into @buf, from read->offset up to @end, at most @room bytes. The
 * bytes are usually whole blocks. If the first block is larger than @room, the bytes are a part of
 * this block. @room is at least the size of a record. Any thread may call the function.
 *
 * Returns the number of bytes, 0 at the end, or a negative errno.
 */
ssize_t compact_file_read(const struct compact_file *file, int fd, uint8_t *buf, size_t room,
			  uint64_t end, struct compact_read *read);

#endif
