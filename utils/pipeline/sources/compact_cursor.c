/* Opens blocks, to be read call by call (see compact_cursor.h). */
#include "utils/pipeline/sources/compact_cursor.h"

#include <stdlib.h>

#include "utils/base/containers/vec.h"
#include "utils/format/calls/compact_step.h"

struct compact_cursor *compact_cursor_create(struct arg_book *args, bool is_big)
{
	struct compact_cursor *cursor = calloc(1, sizeof(*cursor));

	if (!cursor)
		return NULL;
	cursor->coder = compact_coder_create();
	if (!cursor->coder) {
		free(cursor);
		return NULL;
	}
	cursor->args = args;
	cursor->is_big = is_big;
	return cursor;
}

void compact_cursor_destroy(struct compact_cursor *cursor)
{
	if (!cursor)
		return;
	compact_coder_destroy(cursor->coder);
	free(cursor->bytes);
	free(cursor->named);
	free(cursor);
}

void compact_cursor_forget_names(struct compact_cursor *cursor, const struct addr_space *space)
{
	const struct compact_coder *coder = cursor->coder;

	for (size_t i = 0; i <= coder->nr_funcs; i++)
		cursor->named[i] = (struct compact_name){ .addr = record_addr(coder->funcs[i]) };
	cursor->space = space;
}

static bool make_room(struct compact_cursor *cursor, size_t bytes)
{
	uint8_t *more = vec_reach(cursor->bytes, &cursor->cap, bytes - 1, 1);

	if (more)
		cursor->bytes = more;
	return more;
}

static bool make_names(struct compact_cursor *cursor, size_t nr)
{
	struct compact_name *more = vec_reach(cursor->named, &cursor->nr_named, nr - 1,
					      sizeof(*more));

	if (more)
		cursor->named = more;
	return more;
}

bool compact_cursor_open(struct compact_cursor *cursor, const struct compact_file *file, int fd,
			 uint64_t raw)
{
	const struct compact_place *place = compact_file_place(file, raw);
	struct compact_head head;

	cursor->raw_end = 0;
	if (!place || place->raw != raw || !place->has_head ||
	    !make_room(cursor, place->len + COMPACT_SLACK) ||
	    compact_file_load(place, fd, cursor->bytes, &head) <= 0 || head.is_cut ||
	    !compact_block_open(&cursor->block, cursor->coder, &head,
				cursor->bytes + COMPACT_HEAD_BYTES) ||
	    !make_names(cursor, head.nr_funcs + 1))
		return false;
	cursor->at = place->at;
	cursor->raw_end = place->raw + place->raw_len;
	compact_cursor_forget_names(cursor, cursor->space);
	return true;
}
