/*
 * A position in <tid>.cdat from which calls are read one by one, without the bytes of their
 * records.
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
 * One block is open at a time. Some records are in the block as bytes only: LOST, events, and
 * payloads whose length differs from their function's specification. From such a record on, the
 * rest of the block must be read as bytes: a reader must know the content of payloads to find where
 * records begin.
 *
 * @at: offset of the block in the file; @raw_end: end of the block in <tid>.dat, which it
 *      represents; 0: no block is open
 * @bytes: body of the block
 * @payload_bytes: bytes of payloads of the calls read since the last query
 * @named, @nr_named: the functions and values in @space for the block's numbers. @func: NULL: not
 *                    called yet; @args: NULL: not looked up
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
 * Make a cursor on the heap: about 80 kB, and the size of a block. NULL when memory is short.
 * @args: borrowed; @is_big: byte order of payloads
 */
struct compact_cursor *compact_cursor_create(struct arg_book *args, bool is_big);
void compact_cursor_destroy(struct compact_cursor *cursor);

/*
 * Open the block that begins at @raw. False: no block begins there, memory is short, or the block
 * cannot be read call by call (it is damaged, or does not end with a record). compact_file_read()
 * handles these cases.
 */
bool compact_cursor_open(struct compact_cursor *cursor, const struct compact_file *file, int fd,
			 uint64_t raw);

/*
 * Forget the functions and values of the block's numbers: addresses have another meaning from now
 * on.
 */
void compact_cursor_forget_names(struct compact_cursor *cursor, const struct addr_space *space);

#endif
