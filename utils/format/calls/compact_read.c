/* Reads compact blocks (see compact.h; doc/internals/compact.md: the layout). */
#include "utils/format/bytes.h"
#include "utils/format/calls/compact_step.h"

/* Read a varint. Returns NULL when the varint does not end before @end, or is too long. */
static const uint8_t *get_varint(const uint8_t *in, const uint8_t *end, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && in < end; shift += 7) {
		*value |= (uint64_t)(*in & 0x7f) << shift;
		if (!(*in++ & 0x80))
			return in;
	}
	return NULL;
}

static bool get_funcs(struct compact_coder *coder, uint32_t nr, const uint8_t *in,
		      const uint8_t *end)
{
	uint64_t addr = 0;

	for (uint32_t i = 1; i <= nr; i++) {
		uint64_t diff;

		in = get_varint(in, end, &diff);
		if (!in)
			return false;
		addr += diff >> 1 ^ -(diff & 1);
		coder->funcs[i] = RECORD_MAGIC << RECORD_MAGIC_SHIFT | (addr & RECORD_ADDR_MASK)
									       << RECORD_ADDR_SHIFT;
	}
	coder->nr_funcs = nr;
	return in == end;
}

/*
 * The decoding of a block to bytes.
 *
 * @out: the address for the next record; the buffer ends at @out_end
 * @more: RECORD_MORE if the next record has a payload, of @words words; else 0
 */
struct reading {
	struct compact_block block;
	uint8_t *out;
	uint8_t *out_end;
	uint64_t words;
	uint64_t more;
};

static bool copy_bytes(struct reading *r, uint64_t len)
{
	const struct compact_block *block = &r->block;

	/* In a damaged block, a token may extend past the end of the block. */
	if (block->in > block->end || len > (uint64_t)(block->end - block->in) ||
	    len > (uint64_t)(r->out_end - r->out))
		return false;
	memcpy(r->out, r->block.in, len);
	r->block.in += len;
	r->out += len;
	return true;
}

/*
 * Read the number of a function. The number 0 stands for no function. Returns false if the number
 * is too large.
 */
static bool get_number(struct compact_block *block, uint32_t *number)
{
	*number = *block->in++;
	if (*number >= NUMBER_SHORT)
		*number = ((*number - NUMBER_SHORT) << 8) + *block->in++ + NUMBER_SHORT;
	return *number <= block->coder->nr_funcs;
}

/*
 * Execute an escape of the kind ESCAPE_TOP, ESCAPE_DEPTH or ESCAPE_TIME. The first byte of the
 * escape has been read. Returns false if the escape is damaged, or has another kind.
 */
static bool obey_escape(struct compact_block *block, enum escape kind)
{
	struct compact_coder *coder = block->coder;
	uint32_t number;

	switch (kind) {
	case ESCAPE_TOP:
		if (!get_number(block, &number) || coder->depth == 0)
			return false;
		set_top(coder, number);
		return true;
	case ESCAPE_DEPTH:
		set_depth(coder, get_u16(block->in, false));
		block->in += 2;
		return true;
	case ESCAPE_TIME:
		coder->last_ns = get_u64(block->in, false);
		block->in += 8;
		return true;
	default:
		return false;
	}
}

/* Execute an escape of any kind. The first byte of the escape has been read. */
static bool obey_any(struct reading *r, enum escape kind)
{
	struct compact_block *block = &r->block;
	uint64_t value;

	switch (kind) {
	case ESCAPE_WORDS:
	case ESCAPE_BYTES:
		block->in = get_varint(block->in, block->end, &value);
		if (!block->in || value > COMPACT_RAW_MAX)
			return false;
		return copy_bytes(r, kind == ESCAPE_WORDS ? value * 8 : value);
	case ESCAPE_PAYLOAD:
		block->in = get_varint(block->in, block->end, &r->words);
		r->more = RECORD_MORE;
		return block->in && r->words <= COMPACT_RAW_MAX;
	default:
		return obey_escape(block, kind);
	}
}

/* Write the record of a call. @more: RECORD_MORE, or 0. */
static inline void store_call(struct reading *r, const struct compact_call *call, uint64_t more)
{
	store_word(r->out, call->time_ns);
	store_word(r->out + 8, compact_call_word(r->block.coder, call) | more);
	r->out += sizeof(struct record);
}

/*
 * HOT: decode a call with a payload, if the payload is short and complete. Otherwise, returns
 * false, and the state is unchanged.
 */
static inline bool get_payload_call(struct reading *r, struct compact_state *state)
{
	struct compact_state next = *state;
	struct compact_call call;
	size_t len;

	if (!compact_payload_next(&next, r->block.end, &len) ||
	    (size_t)(r->out_end - r->out) < sizeof(struct record) + len ||
	    !compact_step(r->block.coder, r->block.end, &next, UINT64_MAX, &call))
		return false;
	store_call(r, &call, RECORD_MORE);
	for (size_t at = 0; at < len; at += sizeof(uint64_t))
		memcpy(r->out + at, next.in + at, sizeof(uint64_t));
	r->out += len;
	next.in += len;
	*state = next;
	return true;
}

/*
 * HOT: decode calls without a payload, and calls with a short payload. The loop stops at any item
 * that compact_step() and get_payload_call() do not handle:
 *
 * - an escape, except ESCAPE_PAYLOAD with a short payload
 * - a call whose time since the previous record is a varint
 * - a call with a payload that may extend beyond the end of the block's tokens
 * - a damaged call
 *
 * The loop also stops at the end of the tokens, and when @r has no room for another record.
 */
static void get_most_calls(struct reading *r)
{
	struct compact_state state = compact_state_of(&r->block);
	const uint8_t *out_last = r->out_end - sizeof(struct record);
	struct reading to = *r;
	struct compact_call call;

	while (to.out <= out_last) {
		if (likely(compact_step(to.block.coder, to.block.end, &state, UINT64_MAX, &call)))
			store_call(&to, &call, 0);
		else if (!get_payload_call(&to, &state))
			break;
	}
	r->out = to.out;
	compact_state_put(&state, &r->block);
}

/*
 * Read the time between the previous record and a call. @first is the first byte of the call's
 * token, and @in is the address after this byte. Returns the address after the bytes of the time,
 * or NULL if the block is damaged.
 */
static const uint8_t *get_delta(const uint8_t *in, const uint8_t *end, unsigned first,
				uint64_t *delta)
{
	first >>= TOKEN_BITS;
	*delta = first;
	if (first == DELTA_VARINT)
		return get_varint(in, end, delta);
	if (first >= DELTA_SHORT)
		*delta = DELTA_SHORT + ((first - DELTA_SHORT) << 8 | *in++);
	return in;
}

/* Read the token of a call. @first is the token's first byte, which the caller has already read. */
static bool get_call(struct compact_block *block, unsigned first, struct compact_call *call)
{
	struct compact_coder *coder = block->coder;
	uint32_t *learned = &coder->contexts[context(coder->top, coder->last)];
	enum token token = token_of(first);
	uint32_t symbol = token == TOKEN_UNLIKELY ? *learned >> 16 : *learned & 0xffff;
	uint64_t delta;

	block->in = get_delta(block->in, block->end, first, &delta);
	if (!block->in || (token == TOKEN_NUMBER && !get_number(block, &symbol)))
		return false;
	if (token != TOKEN_LIKELY)
		*learned = *learned << 16 | symbol;
	coder->last_ns += delta;
	*call = (struct compact_call){
		.time_ns = coder->last_ns,
		.number = symbol,
		.depth = coder->depth,
		.is_exit = symbol == SYMBOL_EXIT,
	};
	if (coder->depth < call->is_exit)
		return false;
	if (call->is_exit) {
		call->number = coder->top;
		call->depth--;
		exit_coded_call(coder);
	} else {
		enter_coded_call(coder, symbol);
	}
	return true;
}

static bool get_any_call(struct reading *r, unsigned first)
{
	struct compact_call call;

	if (r->out_end - r->out < (ptrdiff_t)sizeof(struct record) ||
	    !get_call(&r->block, first, &call))
		return false;
	store_call(r, &call, r->more);
	if (!r->more)
		return true;
	r->more = 0;
	return copy_bytes(r, r->words * 8);
}

static bool get_records(struct reading *r)
{
	struct compact_block *block = &r->block;

	while (block->in < block->end) {
		if (!r->more)
			get_most_calls(r);
		if (block->in >= block->end)
			break;

		unsigned first = *block->in++;

		if (!(token_of(first) == TOKEN_ESCAPE ? obey_any(r, first >> TOKEN_BITS)
						      : get_any_call(r, first)))
			return false;
	}
	return block->in == block->end && r->out == r->out_end && !r->more;
}

bool compact_block_open(struct compact_block *block, struct compact_coder *coder,
			const struct compact_head *head, const uint8_t *body)
{
	*block = (struct compact_block){
		.coder = coder,
		.in = body,
		.end = body + head->tokens_len,
	};
	if (compact_sum(body, head->body_len) != head->sum)
		return false;
	begin_coder(coder);
	return get_funcs(coder, head->nr_funcs, block->end, body + head->body_len);
}

bool compact_block_rest(struct compact_block *block, uint8_t *raw, size_t len)
{
	struct reading r = { .block = *block, .out = raw, .out_end = raw + len };

	return get_records(&r);
}

bool compact_decode(struct compact_coder *coder, const struct compact_head *head,
		    const uint8_t *body, uint8_t *raw)
{
	struct compact_block block;

	return compact_block_open(&block, coder, head, body) &&
	       compact_block_rest(&block, raw, head->raw_len);
}

/* End the reading of a damaged block. */
static enum compact_found spoil(struct compact_block *block)
{
	block->in = block->end + 1;
	return COMPACT_WRONG;
}

/*
 * Execute the next escapes. Stop before a call, before an escape that holds bytes of records
 * (ESCAPE_WORDS, ESCAPE_PAYLOAD, ESCAPE_BYTES), and at the end of the tokens. Returns the kind of
 * the item at which the function stopped. A call at this place is not read yet.
 */
static enum compact_found obey_all(struct compact_block *block)
{
	while (block->in < block->end) {
		enum escape kind = *block->in >> TOKEN_BITS;

		if (token_of(*block->in) != TOKEN_ESCAPE)
			return COMPACT_CALL;
		if (kind == ESCAPE_WORDS || kind == ESCAPE_PAYLOAD || kind == ESCAPE_BYTES)
			return COMPACT_BYTES;
		block->in++;
		if (!obey_escape(block, kind))
			return spoil(block);
	}
	return block->in == block->end ? COMPACT_END : spoil(block);
}

enum compact_found compact_block_other(struct compact_block *block, uint64_t until_ns,
				       struct compact_call *call)
{
	enum compact_found found = obey_all(block);
	uint64_t delta;

	if (found != COMPACT_CALL)
		return found;
	if (!get_delta(block->in + 1, block->end, *block->in, &delta))
		return spoil(block);
	if (block->coder->last_ns + delta > until_ns)
		return COMPACT_LATER;

	unsigned first = *block->in++;

	return get_call(block, first, call) ? COMPACT_CALL : spoil(block);
}

uint64_t compact_block_next_ns(struct compact_block *block)
{
	uint64_t delta;

	if (obey_all(block) != COMPACT_CALL ||
	    !get_delta(block->in + 1, block->end, *block->in, &delta))
		return 0;
	return block->coder->last_ns + delta;
}
