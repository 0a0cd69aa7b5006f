/* Unpacking trace records from compact blocks (see compact.h, and doc/internals/compact.md for the layout). */
#include "utils/format/bytes.h"
#include "utils/format/compact_tokens.h"

/* A varint that ends before @end. NULL: it does not, or is too long. */
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
 * @in: where the next token begins; nothing of it is before @end, but COMPACT_SLACK bytes behind that may be read
 * @out: where the next record goes, up to @out_end
 * @words: with @more: of the payload behind the next record
 */
struct reading {
	struct compact_coder *coder;
	const uint8_t *in;
	const uint8_t *end;
	uint8_t *out;
	uint8_t *out_end;
	uint64_t words;
	uint64_t more;
};

static bool copy_bytes(struct reading *r, uint64_t len)
{
	if (len > (uint64_t)(r->end - r->in) || len > (uint64_t)(r->out_end - r->out))
		return false;
	memcpy(r->out, r->in, len);
	r->in += len;
	r->out += len;
	return true;
}

/* The number of a function that there is; 0 for none. */
static bool get_number(struct reading *r, uint32_t *number)
{
	*number = *r->in++;
	if (*number >= NUMBER_SHORT)
		*number = ((*number - NUMBER_SHORT) << 8) + *r->in++ + NUMBER_SHORT;
	return *number <= r->coder->nr_funcs;
}

static bool obey(struct reading *r, enum escape kind)
{
	struct compact_coder *coder = r->coder;
	uint64_t value;
	uint32_t number;

	switch (kind) {
	case ESCAPE_WORDS:
	case ESCAPE_BYTES:
		r->in = get_varint(r->in, r->end, &value);
		if (!r->in || value > COMPACT_RAW_MAX)
			return false;
		return copy_bytes(r, kind == ESCAPE_WORDS ? value * 8 : value);
	case ESCAPE_PAYLOAD:
		r->in = get_varint(r->in, r->end, &r->words);
		r->more = RECORD_MORE;
		return r->in && r->words <= COMPACT_RAW_MAX;
	case ESCAPE_TOP:
		if (!get_number(r, &number) || coder->depth == 0)
			return false;
		set_top(coder, number);
		return true;
	case ESCAPE_DEPTH:
		set_depth(coder, get_u16(r->in, false));
		r->in += 2;
		return true;
	case ESCAPE_TIME:
		coder->last_ns = get_u64(r->in, false);
		r->in += 8;
		return true;
	}
	return false;
}

/*
 * HOT: calls without payload, with the state in registers, up to the first token that is an escape or has a long delta, or to where one
 * may reach behind the end. False: a token is wrong.
 */
static bool get_plain_calls(struct reading *r)
{
	struct compact_coder *coder = r->coder;
	const uint64_t *funcs = coder->funcs;
	const uint8_t *in = r->in;
	uint8_t *out = r->out;
	const uint8_t *out_last = r->out_end - sizeof(struct record);
	uint64_t last_ns = coder->last_ns;
	uint32_t nr_funcs = coder->nr_funcs;
	uint32_t depth = coder->depth;
	uint32_t top = coder->top;
	uint32_t last = coder->last;
	bool is_good = true;

	while (in < r->end && out <= out_last) {
		const uint8_t *at = in;
		unsigned first = *at++;
		enum token token = first & ((1U << TOKEN_BITS) - 1);

		first >>= TOKEN_BITS;
		if (unlikely(token == TOKEN_ESCAPE || first == DELTA_VARINT))
			break;

		/* No branch: which of both it is nobody can guess. */
		uint64_t is_long = first >= DELTA_SHORT;
		uint64_t more = ((first - DELTA_SHORT) << 8 | *at) + DELTA_SHORT;

		last_ns += is_long ? more : first;
		at += is_long;

		uint32_t *learned = &coder->contexts[context(top, last)];
		uint32_t both = *learned;
		uint32_t symbol = both & 0xffff;

		if (token != TOKEN_LIKELY) {
			symbol = both >> 16;
			if (token == TOKEN_NUMBER) {
				symbol = *at++;
				if (unlikely(symbol >= NUMBER_SHORT))
					symbol = NUMBER_SHORT + ((symbol - NUMBER_SHORT) << 8) +
						 *at++;
				if (unlikely(symbol > nr_funcs)) {
					is_good = false;
					break;
				}
			}
			*learned = both << 16 | symbol;
		}

		uint32_t is_exit = symbol == SYMBOL_EXIT;

		if (unlikely(depth < is_exit)) {
			is_good = false;
			break;
		}
		in = at;
		if (is_exit) {
			depth--;
			last = top;
			symbol = top;
			top = depth ? *frame(coder, depth - 1) : 0;
		} else {
			top = symbol;
			last = 0;
			*frame(coder, depth) = symbol;
		}
		store_word(out, last_ns);
		store_word(out + 8, funcs[symbol] | is_exit |
					    (uint64_t)MIN(depth, (uint32_t)RECORD_DEPTH_MAX)
						    << RECORD_DEPTH_SHIFT);
		out += sizeof(struct record);
		depth += !is_exit;
	}
	coder->last_ns = last_ns;
	coder->depth = depth;
	coder->top = top;
	coder->last = last;
	r->in = in;
	r->out = out;
	return is_good;
}

/* One token of a call, whatever is in it. */
static bool get_call(struct reading *r, enum token token, unsigned first)
{
	struct compact_coder *coder = r->coder;
	uint32_t *learned = &coder->contexts[context(coder->top, coder->last)];
	uint64_t delta = first;
	uint32_t symbol = token == TOKEN_UNLIKELY ? *learned >> 16 : *learned & 0xffff;

	if (first == DELTA_VARINT)
		r->in = get_varint(r->in, r->end, &delta);
	else if (first >= DELTA_SHORT)
		delta = DELTA_SHORT + ((first - DELTA_SHORT) << 8 | *r->in++);
	if (!r->in || (token == TOKEN_NUMBER && !get_number(r, &symbol)))
		return false;
	if (token != TOKEN_LIKELY)
		*learned = *learned << 16 | symbol;
	coder->last_ns += delta;

	uint32_t is_exit = symbol == SYMBOL_EXIT;

	if (coder->depth < is_exit || r->out_end - r->out < (ptrdiff_t)sizeof(struct record))
		return false;

	uint64_t depth = MIN(coder->depth - is_exit, (uint32_t)RECORD_DEPTH_MAX);

	store_word(r->out, coder->last_ns);
	store_word(r->out + 8, coder->funcs[is_exit ? coder->top : symbol] | r->more | is_exit |
				       depth << RECORD_DEPTH_SHIFT);
	r->out += sizeof(struct record);
	if (is_exit)
		leave(coder);
	else
		enter(coder, symbol);
	if (!r->more)
		return true;
	r->more = 0;
	return copy_bytes(r, r->words * 8);
}

static bool get_records(struct reading *r)
{
	while (r->in < r->end) {
		if (!r->more && !get_plain_calls(r))
			return false;
		if (r->in >= r->end)
			break;

		unsigned first = *r->in++;
		enum token token = first & ((1U << TOKEN_BITS) - 1);

		first >>= TOKEN_BITS;
		if (!(token == TOKEN_ESCAPE ? obey(r, first) : get_call(r, token, first)))
			return false;
	}
	return r->in == r->end && r->out == r->out_end && !r->more;
}

bool compact_decode(struct compact_coder *coder, const struct compact_head *head,
		    const uint8_t *body, uint8_t *raw)
{
	struct reading r = {
		.coder = coder,
		.in = body,
		.end = body + head->tokens_len,
		.out = raw,
		.out_end = raw + head->raw_len,
	};

	if (compact_sum(body, head->body_len) != head->sum)
		return false;
	begin(coder);
	return get_funcs(coder, head->nr_funcs, r.end, body + head->body_len) && get_records(&r);
}
