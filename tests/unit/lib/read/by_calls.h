/*
 * Reads a compact block call by call, and rebuilds the records that it stands for. For tests and
 * fuzzing.
 */
#ifndef UTRAIL_TESTS_BY_CALLS_H
#define UTRAIL_TESTS_BY_CALLS_H

#include "utils/format/calls/compact_step.h"

static inline void put_call_record(const struct compact_coder *coder,
				   const struct compact_call *call, uint8_t *out)
{
	store_word(out, call->time_ns);
	store_word(out + 8, compact_call_word(coder, call));
}

/*
 * Does the work of compact_decode(), with compact_step(), compact_block_other() and, from the first
 * record on that is not of a call, compact_block_rest(). After a record later than @until_ns it
 * goes on without a limit, since a limit must not change the result.
 */
static inline bool decode_by_calls(struct compact_coder *coder, const struct compact_head *head,
				   const uint8_t *body, uint64_t until_ns, uint8_t *raw)
{
	struct compact_block block;
	struct compact_state state;
	uint8_t *out = raw;
	uint8_t *end = raw + head->raw_len;

	if (!compact_block_open(&block, coder, head, body))
		return false;
	state = compact_state_of(&block);
	for (;;) {
		enum compact_found found = COMPACT_CALL;
		struct compact_call call;

		if (!compact_step(coder, block.end, &state, until_ns, &call)) {
			compact_state_put(&state, &block);
			found = compact_block_other(&block, until_ns, &call);
			state = compact_state_of(&block);
		}
		if (found == COMPACT_LATER) {
			until_ns = UINT64_MAX;
			continue;
		}
		if (found == COMPACT_BYTES)
			return compact_block_rest(&block, out, end - out);
		if (found != COMPACT_CALL)
			return found == COMPACT_END && out == end;
		if (end - out < (ptrdiff_t)sizeof(struct record))
			return false;
		put_call_record(coder, &call, out);
		out += sizeof(struct record);
	}
}

#endif
