/*
 * A position in <tid>.cdat, from which calls are read one by one. compact_file_read() is the other
 * reader of <tid>.cdat: it decodes the same blocks to the bytes of <tid>.dat.
 */
#ifndef UTRAIL_PIPELINE_COMPACT_CURSOR_H
#define UTRAIL_PIPELINE_COMPACT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/format/calls/compact.h"
#include "utils/pipeline/recording/compact_file.h"

struct addr_space;
struct arg_book;
struct func;
struct func_args;

/*
 * One block is open at a time. Its calls can be read one by one up to the first LOST record, the
 * first event, or the first payload whose length differs from the length in its specification. From
 * there on, the block must be read as bytes.
 *
 * @at: offset of the block in the file
 * @raw_end: the end of the block's unpacked bytes, as an offset in <tid>.dat; 0: no block is open
 * @payload_bytes: the number of payload bytes that were read, but not yet counted by
 *                 src_user_took()
 * @bytes: body of the block
 * @named: the functions of @space, indexed by their numbers in the block. @func is NULL until the
 *         first call of the function is read. @args is NULL until the function's specifications are
 *         looked up
 */
struct compact_cursor {
	struct compact_block block;
	struct compact_coder *coder;
	uint64_t at;
	uint64_t raw_end;
	uint64_t payload_bytes;
	uint8_t *bytes;
	size_t cap;
	struct arg_book *args;
	bool is_big;
	const struct addr_space *space;
	struct compact_name {
		uint64_t addr;
		const struct func *func;
		const struct func_args *args;
	} * named;
	size_t nr_named;
};

/*
 * Make a cursor of 73 kB on the heap. compact_cursor_open() allocates more memory, for the block
 * and for the member @named. Returns NULL when memory is short. @args is borrowed. @is_big:
 * payloads are big-endian
 */
struct compact_cursor *compact_cursor_create(struct arg_book *args, bool is_big);
void compact_cursor_destroy(struct compact_cursor *cursor);

/*
 * Open the block that represents the bytes of <tid>.dat from offset @raw on. Returns false if no
 * block begins at @raw, if memory is short, or if the block is damaged or ends within a record. If
 * the result is false, the caller uses compact_file_read().
 */
bool compact_cursor_open(struct compact_cursor *cursor, const struct compact_file *file, int fd,
			 uint64_t raw);

/*
 * Forget which function each number of the block stands for. For calls that are read later,
 * functions are looked up in @space.
 */
void compact_cursor_forget_names(struct compact_cursor *cursor, const struct addr_space *space);

#endif
