/* HOT: reading a compact block call by call, for those who spare themselves its records (see compact.h). */
#ifndef UTRAIL_FORMAT_COMPACT_STEP_H
#define UTRAIL_FORMAT_COMPACT_STEP_H

#include "utils/format/compact_tokens.h"

/*
 * A call without payload.
 *
 * @number: of its function, whose address is in coder->funcs; 0: not known, which is damage
 * @depth: calls around it, as its record has it
 */
struct compact_call {
	uint64_t time_ns;
	uint32_t number;
	uint32_t depth;
	bool is_exit;
};

/* What comes next in a block. */
enum compact_found {
	COMPACT_CALL,  /* one that was read */
	COMPACT_LATER, /* one that is later than was asked for: it was not read */
	COMPACT_OTHER, /* compact_step() does not know: ask compact_block_other() */
	COMPACT_BYTES, /* what is there as bytes only: ask compact_block_rest() */
	COMPACT_END,
	COMPACT_WRONG, /* the block is damaged; nothing else will come of it */
};

/* What changes with each call: to be kept in registers. Between two of these functions one can have it from the block, and put it back. */
struct compact_state {
	const uint8_t *in;
	uint64_t last_ns;
	uint32_t depth;
	uint32_t top;
	uint32_t last;
};

static inline struct compact_state compact_state_of(const struct compact_block *block)
{
	const struct compact_coder *coder = block->coder;

	return (struct compact_state){
		.in = block->in,
		.last_ns = coder->last_ns,
		.depth = coder->depth,
		.top = coder->top,
		.last = coder->last,
	};
}

static inline void compact_state_put(const struct compact_state *state, struct compact_block *block)
{
	struct compact_coder *coder = block->coder;

	block->in = state->in;
	coder->last_ns = state->last_ns;
	coder->depth = state->depth;
	coder->top = state->top;
	coder->last = state->last;
}

/* HOT: the next token, if it is a call that is not later than @until_ns, and has no long delta; else nothing has changed. */
static inline enum compact_found compact_step(struct compact_coder *coder, const uint8_t *end,
					      struct compact_state *state, uint64_t until_ns,
					      struct compact_call *call)
{
	if (unlikely(state->in >= end))
		return COMPACT_OTHER;

	const uint8_t *at = state->in;
	unsigned first = *at++;
	enum token token = first & ((1U << TOKEN_BITS) - 1);

	first >>= TOKEN_BITS;
	if (unlikely(token == TOKEN_ESCAPE || first == DELTA_VARINT))
		return COMPACT_OTHER;

	/* No branches: whether that is so nobody can guess, nor which of the two that were learned it is. */
	uint64_t is_long = first >= DELTA_SHORT;
	uint64_t more = ((uint64_t)(first - DELTA_SHORT) << 8 | *at) + DELTA_SHORT - first;
	uint64_t time_ns = state->last_ns + first + (more & -is_long);

	if (unlikely(time_ns > until_ns))
		return COMPACT_LATER;
	at += is_long;

	uint32_t *learned = &coder->contexts[context(state->top, state->last)];
	unsigned turn = (token & 1) * 16;
	uint32_t both = *learned << turn | *learned >> (-turn & 31);

	_Static_assert(TOKEN_LIKELY == 0 && TOKEN_UNLIKELY == 1 && TOKEN_NUMBER == 2,
		       "the low bit tells which of the two");
	if (unlikely(token == TOKEN_NUMBER)) {
		uint32_t number = *at++;

		if (unlikely(number >= NUMBER_SHORT))
			number = NUMBER_SHORT + ((number - NUMBER_SHORT) << 8) + *at++;
		if (unlikely(number > coder->nr_funcs))
			return COMPACT_OTHER;
		both = both << 16 | number;
	}

	uint32_t symbol = both & 0xffff;

	call->is_exit = symbol == SYMBOL_EXIT;
	if (unlikely(state->depth < call->is_exit))
		return COMPACT_OTHER;
	*learned = both;
	state->in = at;
	state->last_ns = time_ns;
	call->time_ns = time_ns;
	if (call->is_exit) {
		call->number = state->top;
		call->depth = --state->depth;
		state->last = state->top;
		state->top = state->depth ? *frame(coder, state->depth - 1) : 0;
	} else {
		call->number = symbol;
		call->depth = state->depth++;
		state->top = symbol;
		state->last = 0;
		*frame(coder, call->depth) = symbol;
	}
	return COMPACT_CALL;
}

/* The same for what it does not know. @block: with the state put back. */
enum compact_found compact_block_other(struct compact_block *block, uint64_t until_ns,
				       struct compact_call *call);

/* The second word of the record of a call: as if it was outermost. */
static inline uint64_t compact_call_word(const struct compact_coder *coder,
					 const struct compact_call *call)
{
	return coder->funcs[call->number] | call->is_exit;
}

#endif
