/*
 * <tid>.cdat as if it was <tid>.dat: the places of its blocks, and reading bytes that they stand
 * for.
 */
#ifndef UTRAIL_TRACE_COMPACT_FILE_H
#define UTRAIL_TRACE_COMPACT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "utils/base/err.h"
#include "utils/format/calls/compact.h"

/*
 * One block (utils/format/calls/compact.h): it stands for @raw_len bytes from @raw on of <tid>.dat,
 * and is @len bytes at @at of the file. A block without head (@raw_len is that of a LOST record) is
 * unknown but for its place.
 */
struct compact_place {
	uint64_t raw;
	uint64_t at;
	uint32_t raw_len;
	uint32_t len;
	bool has_head;
};

/*
 * The blocks of one file, in its order. Starts as { 0 }, ends with compact_file_deinit().
 *
 * @raw_bytes: of <tid>.dat
 * @end: of the file, after the last block
 * @is_torn: bytes follow that are not a whole block
 */
struct compact_file {
	struct compact_place *places;
	size_t nr;
	uint64_t raw_bytes;
	uint64_t end;
	bool is_torn;
};

/*
 * Find the blocks after the last one that is known. A block with a damaged head is skipped, up to
 * the next one. 0, or negative errno. Nobody may read meanwhile.
 */
int compact_file_look(struct compact_file *file, int fd);
void compact_file_deinit(struct compact_file *file);

/* The block in which the byte at @raw of <tid>.dat is; NULL: in none. */
const struct compact_place *compact_file_place(const struct compact_file *file, uint64_t raw);

/* Read the head at @place. False: there is none, or it is not there any more. */
bool compact_file_head(const struct compact_place *place, int fd, struct compact_head *head);

/*
 * Read the block at @place, which has a head, to @bytes, with COMPACT_SLACK after it. 1 with its
 * @head, 0: it is not there any more, or negative errno.
 */
int compact_file_load(const struct compact_place *place, int fd, uint8_t *bytes,
		      struct compact_head *head);

/*
 * Write a LOST record for @nr records, at least one, in the place of damaged ones to @out. Its
 * length.
 */
size_t compact_file_put_lost(uint32_t nr, uint8_t *out);

/*
 * The place where reading goes on, and its result.
 *
 * @offset: in <tid>.dat; then that of the byte after the last one
 * @may_skip: bytes before that may come with it; @skip: so many did
 * @is_whole: a record ends where these bytes end
 * @damaged_at: the place in the file where a block is damaged, and its records are missing: a LOST
 *              record is in their place; UINT64_MAX: none is
 */
struct compact_read {
	uint64_t offset;
	bool may_skip;
	size_t skip;
	bool is_whole;
	uint64_t damaged_at;
};

/*
 * Read from read->offset, up to @end at most, some of the bytes of @file to @buf, which has room
 * for @room: whole blocks if they fit. Any thread. Returns how many, 0 at the end, or negative
 * errno.
 */
ssize_t compact_file_read(const struct compact_file *file, int fd, uint8_t *buf, size_t room,
			  uint64_t end, struct compact_read *read);

#endif
