/* HOT: reads a compact block (compact.h) call by call, without making records of the calls. */
#ifndef UTRAIL_FORMAT_COMPACT_STEP_H
#define UTRAIL_FORMAT_COMPACT_STEP_H

#include "utils/format/calls/compact_tokens.h"

/*
 * A call without payload.
 *
 * @number: the index of the function's address in coder->funcs; 0: the function is unknown, so the
 *          block is damaged
 * @depth: the number of open calls around this call
 */
struct compact_call {
	uint64_t time_ns;
	uint32_t number;
	uint32_t depth;
	bool is_exit;
};

/* The next item in a block. */
enum compact_found {
	COMPACT_CALL,  /* a call, which was read */
	COMPACT_LATER, /* a call that was not read, because the call is later than @until_ns */
	COMPACT_BYTES, /* other records: compact_block_rest() must decode the rest of the block */
	COMPACT_END,
	COMPACT_WRONG, /* the block is damaged, and has no more calls */
};

/*
 * The state that changes with each decoded call. A loop can keep this state in registers.
 *
 * @context: the index in compact_coder.contexts for the next call
 */
struct compact_state {
	const uint8_t *in;
	uint64_t last_ns;
	uint32_t context;
	uint32_t depth;
	uint32_t last;
};

static inline struct compact_state compact_state_of(const struct compact_block *block)
{
	const struct compact_coder *coder = block->coder;

	return (struct compact_state){
		.in = block->in,
		.last_ns = coder->last_ns,
		.context = context(coder->top, coder->last),
		.depth = coder->depth,
		.last = coder->last,
	};
}

static inline void compact_state_put(const struct compact_state *state, struct compact_block *block)
{
	struct compact_coder *coder = block->coder;

	block->in = state->in;
	coder->last_ns = state->last_ns;
	coder->depth = state->depth;
	coder->top = state->depth ? *frame(coder, state->depth - 1) : 0;
	coder->last = state->last;
}

/*
 * HOT: read the next token, if the token is a call with a short delta, and the call's time is
 * @until_ns or earlier.
 *
 * @end: the end of the tokens
 *
 * Returns false, with @state unchanged, if compact_block_other() must be called.
 */
static inline bool compact_step(struct compact_coder *coder, const uint8_t *end,
				struct compact_state *state, uint64_t until_ns,
				struct compact_call *call)
{
	if (unlikely(state->in >= end))
		return false;

	const uint8_t *at = state->in;
	unsigned first = *at++;
	enum token token = token_of(first);
	uint64_t time_ns = state->last_ns;

	first >>= TOKEN_BITS;
	if (likely(first < DELTA_SHORT)) {
		time_ns += first;
	} else {
		if (unlikely(first == DELTA_VARINT))
			return false;
		time_ns += DELTA_SHORT + ((first - DELTA_SHORT) << 8 | *at++);
	}
	if (unlikely(time_ns > until_ns))
		return false;

	uint32_t *learned = &coder->contexts[state->context];
	uint32_t both = *learned;
	uint32_t symbol = both & 0xffff;

	if (unlikely(token != TOKEN_LIKELY)) {
		symbol = both >> 16;
		if (token != TOKEN_UNLIKELY) {
			if (token == TOKEN_ESCAPE)
				return false;
			symbol = *at++;
			if (unlikely(symbol >= NUMBER_SHORT))
				symbol = NUMBER_SHORT + ((symbol - NUMBER_SHORT) << 8) + *at++;
			if (unlikely(symbol > coder->nr_funcs))
				return false;
		}
		both = both << 16 | symbol;
	}

	uint32_t depth = state->depth;

	call->is_exit = symbol == SYMBOL_EXIT;
	if (call->is_exit) {
		if (unlikely(depth == 0))
			return false;
		symbol = *frame(coder, --depth);
		state->context = context(depth ? *frame(coder, depth - 1) : 0, symbol);
		state->last = symbol;
		state->depth = depth;
	} else {
		*frame(coder, depth) = symbol;
		state->context = context(symbol, 0);
		state->last = 0;
		state->depth = depth + 1;
	}
	*learned = both;
	state->in = at;
	state->last_ns = time_ns;
	call->time_ns = time_ns;
	call->number = symbol;
	call->depth = depth;
	return true;
}

/* The size in bytes of the longest token that compact_step() reads. */
#define COMPACT_STEP_BYTES 4

/*
 * HOT: true when the block continues with a complete call that has a short payload.
 *
 * @state: @state->in becomes the address of the call's token. If the result is false, @state does
 *         not change
 * @len: becomes the length of the payload in bytes. The payload follows the call's token
 */
static inline bool compact_payload_next(struct compact_state *state, const uint8_t *end,
					size_t *len)
{
	const uint8_t escape = ESCAPE_PAYLOAD << TOKEN_BITS | TOKEN_ESCAPE;
	const uint8_t *in = state->in;

	*len = in[1] * sizeof(uint64_t);
	if (in[0] != escape || in[1] & 0x80 ||
	    end - in < (ptrdiff_t)(2 + COMPACT_STEP_BYTES + *len))
		return false;
	state->in = in + 2;
	return true;
}

/*
 * Read the next token, of any kind. If the caller keeps a struct compact_state, the caller must
 * first store this state in @block (compact_state_put()).
 */
enum compact_found compact_block_other(struct compact_block *block, uint64_t until_ns,
				       struct compact_call *call);

/* Returns the second word of the record of a call. */
static inline uint64_t compact_call_word(const struct compact_coder *coder,
					 const struct compact_call *call)
{
	uint64_t depth = MIN(call->depth, (uint32_t)RECORD_DEPTH_MAX);

	return coder->funcs[call->number] | call->is_exit | depth << RECORD_DEPTH_SHIFT;
}

#endif
