/* A place in <tid>.cdat from which calls are read one by one, without the bytes of their records. */
#ifndef UTRAIL_TRACE_COMPACT_CURSOR_H
#define UTRAIL_TRACE_COMPACT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/format/compact.h"
#include "utils/trace/compact_file.h"

struct addr_space;
struct func;

/*
 * One block is open at a time. What is in it as bytes only (payloads, LOST) ends that: the rest of the block must be had as bytes then, for where
 * records begin only who knows what is in payloads can tell.
 *
 * @at: of the block, in the file; @raw_end: where the block ends in what it stands for; 0: no block is open
 * @bytes: its body
 * @named: by the block's numbers, as far as they have been called: what that means in @space. @func: NULL: nobody has looked
 */
struct compact_cursor {
	struct compact_block block;
	struct compact_coder *coder;
	uint64_t at;
	uint64_t raw_end;
	uint8_t *bytes;
	size_t cap;
	const struct addr_space *space;
	struct compact_name {
		uint64_t addr;
		const struct func *func;
	} named[COMPACT_FUNCS_MAX + 1];
};

/* Of the heap, about 150 kB and what a block has; NULL when memory is short. */
struct compact_cursor *compact_cursor_create(void);
void compact_cursor_destroy(struct compact_cursor *cursor);

/*
 * Open the block that begins at @raw. False: none begins there, or it cannot be read call by call (it is damaged, or does not end where a
 * record does), or memory is short: compact_file_read() knows what to do.
 */
bool compact_cursor_open(struct compact_cursor *cursor, const struct compact_file *file, int fd,
			 uint64_t raw);

/* Names are those of @space from now on, or of another block. */
void compact_cursor_forget_names(struct compact_cursor *cursor, const struct addr_space *space);

#endif
