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
 * One block is open at a time. Records that are in it as bytes only (LOST, events, payloads whose
 * length differs from their function's specification) end that: the rest of the block must be read
 * as bytes then. A reader must know the content of payloads to find where records begin.
 *
 * @at: of the block, in the file; @raw_end: the end of the block in <tid>.dat, which it represents;
 *      0: no block is open
 * @bytes: its body
 * @payload_bytes: of the calls read since the last query
 * @named, @nr_named: the meaning of the block's numbers in @space. @func: NULL: not called
 *                    yet; @args: NULL: not looked up
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
 * From the heap, about 80 kB and the size of a block; NULL when memory is short. @args: borrowed;
 * @is_big: byte order of payloads
 */
struct compact_cursor *compact_cursor_create(struct arg_book *args, bool is_big);
void compact_cursor_destroy(struct compact_cursor *cursor);

/*
 * Open the block that begins at @raw. False: none begins there, or memory is short, or it cannot be
 * read call by call (it is damaged, or does not end with a record). compact_file_read() handles
 * that.
 */
bool compact_cursor_open(struct compact_cursor *cursor, const struct compact_file *file, int fd,
			 uint64_t raw);

/* Names are those of @space from now on, or of another block. */
void compact_cursor_forget_names(struct compact_cursor *cursor, const struct addr_space *space);

#endif
