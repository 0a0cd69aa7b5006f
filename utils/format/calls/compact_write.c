/* Writes compact blocks (see compact.h; doc/internals/compact.md: the layout). */
#include "utils/format/bytes.h"
#include "utils/format/calls/compact_tokens.h"

static uint8_t *put_varint(uint8_t *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*out++ = value | 0x80;
	*out++ = value;
	return out;
}

static inline uint8_t *put_number(uint8_t *out, uint32_t number)
{
	if (number < NUMBER_SHORT) {
		*out++ = number;
		return out;
	}
	number -= NUMBER_SHORT;
	*out++ = NUMBER_SHORT + (number >> 8);
	*out++ = number;
	return out;
}

static uint8_t *put_escape(uint8_t *out, enum escape kind)
{
	*out++ = TOKEN_ESCAPE | kind << TOKEN_BITS;
	return out;
}

/* Returns the slot where the search for @word begins. */
static INLINE uint32_t slot_of(uint64_t word)
{
	_Static_assert(SLOTS == 1 << (32 - 19), "the hash has as many bits");
	return (uint32_t)((uint32_t)(word >> RECORD_ADDR_SHIFT) * 0x9e3779b1U) >> 19;
}

/*
 * Returns the number of the function that @word names (WORD_MASK). A function without a number gets
 * the next number. If all COMPACT_FUNCS_MAX numbers are in use, the function gets no number, and
 * the result is 0.
 */
static uint32_t number_of(struct compact_coder *coder, uint64_t word)
{
	size_t at = slot_of(word);

	for (; coder->slots[at]; at = (at + 1) % SLOTS) {
		if (coder->funcs[coder->slots[at]] == word)
			return coder->slots[at];
	}
	if (coder->nr_funcs == COMPACT_FUNCS_MAX)
		return 0;
	coder->slots[at] = ++coder->nr_funcs;
	coder->funcs[coder->nr_funcs] = word;
	return coder->nr_funcs;
}

/* True for a record of a call, with or without payload. */
static inline bool is_call(uint64_t data)
{
	return (data & (2 | 7ULL << RECORD_MAGIC_SHIFT)) == RECORD_MAGIC << RECORD_MAGIC_SHIFT;
}

/*
 * @is_whole: the end of the payload was found
 * @may_hide_record: two adjacent words look like a record, but count as payload because their time
 *                   is earlier than the time of the record to which the payload belongs
 */
struct payload_look {
	bool is_whole;
	bool may_hide_record;
};

/*
 * Count the words of the payload at @raw. The payload ends before the first word that seems to
 * begin a record with the time @after_ns or later. If there is no such word, the payload ends after
 * @len bytes.
 */
static size_t payload_words(const uint8_t *raw, size_t len, uint64_t after_ns,
			    struct payload_look *look)
{
	size_t at = 8;

	*look = (struct payload_look){ .is_whole = true };
	for (; at + sizeof(struct record) <= len; at += 8) {
		uint64_t time_ns = load_word(raw + at);
		uint64_t data = load_word(raw + at + 8);

		if (!record_magic_is_good(data))
			continue;
		if (time_ns - after_ns < 1ULL << 42)
			return at / 8;
		look->may_hide_record |= after_ns - time_ns < 1ULL << 42;
	}
	look->is_whole = false;
	return len / 8;
}

/*
 * A block that is being written. @least: the value for compact_head.least if @has_call is true.
 * Otherwise compact_head.least becomes 0
 */
struct writing {
	struct compact_coder *coder;
	struct compact_head head;
	bool has_call;
	uint32_t least;
};

/*
 * Update the data for the block's header in @w. The caller has just written records of calls.
 *
 * @time_ns: the time of the first of these records
 * @least: the lowest number of open calls before, between or after these records
 */
static void note_call(struct writing *w, uint64_t time_ns, uint32_t least)
{
	if (!w->has_call)
		w->head.first_ns = time_ns;
	w->has_call = true;
	w->least = MIN(w->least, least);
}

/* Write escapes for those values of a call that the reader would derive wrongly. */
static uint8_t *put_surprises(struct writing *w, uint8_t *out, uint64_t time_ns, uint64_t data,
			      uint32_t number)
{
	struct compact_coder *coder = w->coder;
	uint32_t is_exit = data & 1;
	uint32_t depth = record_depth(data) + is_exit;
	uint32_t now = MIN(coder->depth - is_exit, (uint32_t)RECORD_DEPTH_MAX);

	if (coder->depth < is_exit || now != record_depth(data)) {
		out = put_escape(out, ESCAPE_DEPTH);
		put_u16(out, depth, false);
		out += 2;
		set_depth(coder, depth);
	}
	if (time_ns - coder->last_ns >= DELTA_MAX) {
		out = put_escape(out, ESCAPE_TIME);
		put_u64(out, time_ns, false);
		out += 8;
		coder->last_ns = time_ns;
	}
	if (is_exit && coder->top != number) {
		out = put_escape(out, ESCAPE_TOP);
		out = put_number(out, number);
		set_top(coder, number);
	}
	return out;
}

/*
 * HOT: write a token of one or two bytes. A CPU cannot predict the length of the token. To avoid a
 * branch, the function always stores two bytes. If the token has only one byte, the next token
 * overwrites the second byte.
 */
static INLINE uint8_t *put_short_token(uint8_t *out, enum token token, uint64_t delta)
{
	uint64_t above = delta - DELTA_SHORT;
	uint32_t first = delta < DELTA_SHORT ? delta : DELTA_SHORT + (uint32_t)(above >> 8);

	out[0] = token | first << TOKEN_BITS;
	out[1] = above;
	return out + 1 + (delta >= DELTA_SHORT);
}

/* Write a token of the kind @token, with a delta. */
static uint8_t *put_token(uint8_t *out, enum token token, uint64_t delta)
{
	if (likely(delta <= DELTA_BYTE_MAX))
		return put_short_token(out, token, delta);
	*out++ = token | DELTA_VARINT << TOKEN_BITS;
	return put_varint(out, delta);
}

/* Write a call of any kind. Returns NULL if the block has too many functions. */
static uint8_t *put_call(struct writing *w, uint8_t *out, uint64_t time_ns, uint64_t data)
{
	struct compact_coder *coder = w->coder;
	uint64_t word = data & WORD_MASK;
	uint32_t is_exit = data & 1;
	uint32_t now = coder->depth - is_exit;
	uint32_t number = 0;

	if (unlikely(coder->depth < is_exit ||
		     MIN(now, (uint32_t)RECORD_DEPTH_MAX) != record_depth(data) ||
		     time_ns - coder->last_ns >= DELTA_MAX ||
		     (is_exit && coder->funcs[coder->top] != word))) {
		if (is_exit) {
			number = number_of(coder, word);
			if (!number)
				return NULL;
		}
		out = put_surprises(w, out, time_ns, data, number);
	}

	uint32_t *learned = &coder->contexts[context(coder->top, coder->last)];
	uint32_t likely_one = *learned & 0xffff;
	uint32_t unlikely_one = *learned >> 16;
	uint64_t delta = time_ns - coder->last_ns;
	uint32_t symbol = SYMBOL_EXIT;

	if (is_exit ? likely_one == SYMBOL_EXIT : coder->funcs[likely_one] == word) {
		symbol = likely_one;
		out = put_token(out, TOKEN_LIKELY, delta);
	} else if (is_exit ? unlikely_one == SYMBOL_EXIT : coder->funcs[unlikely_one] == word) {
		symbol = unlikely_one;
		*learned = *learned << 16 | symbol;
		out = put_token(out, TOKEN_UNLIKELY, delta);
	} else {
		if (!is_exit)
			symbol = number_of(coder, word);
		if (!is_exit && !symbol)
			return NULL;
		*learned = *learned << 16 | symbol;
		out = put_token(out, TOKEN_NUMBER, delta);
		out = put_number(out, symbol);
	}
	coder->last_ns = time_ns;
	if (is_exit)
		exit_coded_call(coder);
	else
		enter_coded_call(coder, symbol);
	return out;
}

static uint8_t *put_words(uint8_t *out, const uint8_t *raw, size_t nr)
{
	out = put_escape(out, ESCAPE_WORDS);
	out = put_varint(out, nr);
	memcpy(out, raw, nr * 8);
	return out + nr * 8;
}

/* Write the functions of the block, each as its distance from the previous one. */
static uint8_t *put_funcs(const struct compact_coder *coder, uint8_t *out)
{
	uint64_t before = 0;

	for (uint32_t i = 1; i <= coder->nr_funcs; i++) {
		uint64_t addr = record_addr(coder->funcs[i]);
		uint64_t diff = addr - before;

		/* The sign is the lowest bit. */
		out = put_varint(out, diff << 1 ^ -(diff >> 63));
		before = addr;
	}
	return out;
}

/*
 * Write a record with its payload. Returns the number of bytes that were taken from @raw. Returns 0
 * if the block has no room, or if the record is incomplete and more bytes will follow (@has_more).
 */
static size_t put_record(struct writing *w, uint8_t **at, const uint8_t *raw, size_t len,
			 size_t room, bool has_more)
{
	uint8_t *out = *at;
	uint64_t time_ns = load_word(raw);
	uint64_t data = load_word(raw + 8);
	size_t words = 0;

	if (record_has_more(data) && record_magic_is_good(data)) {
		struct payload_look look;

		words = payload_words(raw + sizeof(struct record), len - sizeof(struct record),
				      time_ns, &look);
		if (has_more && !look.is_whole && len < COMPACT_RAW_MAX)
			return 0;
		if (look.may_hide_record)
			w->least = 0;
	}

	size_t used = sizeof(struct record) + words * 8;

	/*
	 * A record that does not fit into the rest of this block waits for the next block. A record
	 * that does not fit into an empty block is cut, and the next block has the rest of the
	 * payload.
	 */
	if (used > room && room < COMPACT_RAW_MAX)
		return 0;
	if (used > room) {
		used = room;
		words = (room - sizeof(struct record)) / 8;
		w->head.is_cut = true;
	}
	if (is_call(data)) {
		if (words || record_has_more(data)) {
			out = put_escape(out, ESCAPE_PAYLOAD);
			out = put_varint(out, words);
		}
		out = put_call(w, out, time_ns, data);
		if (!out)
			return 0;
		memcpy(out, raw + sizeof(struct record), words * 8);
		out += words * 8;
		note_call(w, time_ns, record_depth(data));
	} else {
		out = put_words(out, raw, used / 8);
	}
	*at = out;
	w->head.nr_records++;
	return used;
}

/*
 * If a record is an ENTRY without payload and has the expected depth, returns the number of the
 * function. Returns 0 for all other records, and when the block has too many functions.
 *
 * @word: the second word of the record, after the caller has subtracted the expected depth
 */
static uint32_t number_of_call(struct compact_coder *coder, uint64_t word)
{
	if ((word & ((1U << RECORD_ADDR_SHIFT) - 1)) != RECORD_MAGIC << RECORD_MAGIC_SHIFT)
		return 0;
	return number_of(coder, word);
}

/*
 * HOT: write the token of @symbol. @learned points to the entry of the current context in
 * compact_coder.contexts. In this entry, @symbol becomes the symbol of TOKEN_LIKELY.
 */
static INLINE uint8_t *put_symbol(uint8_t *out, uint32_t *learned, uint32_t symbol, uint64_t delta)
{
	uint32_t both = *learned;

	if (likely(symbol == (both & 0xffff)))
		return put_short_token(out, TOKEN_LIKELY, delta);
	*learned = both << 16 | symbol;
	if (symbol == both >> 16)
		return put_short_token(out, TOKEN_UNLIKELY, delta);
	return put_number(put_short_token(out, TOKEN_NUMBER, delta), symbol);
}

/*
 * HOT: write the calls without payload at @raw, up to @end. Stop at the first record that needs
 * put_record(): a record of another kind, or an unusual call (for example, after a long time).
 *
 * @least: becomes the lowest number of open calls before, between or after the written calls
 * @is_deep: more calls are open than the depth of a record can tell (RECORD_DEPTH_MAX)
 *
 * Returns the first record that was not written. To find the number of a function, the loop uses
 * only the record, not the likely symbol of the context. The likely symbol depends on earlier
 * records. If the loop used the likely symbol, the processor could not look up the functions of
 * several records in parallel.
 */
static INLINE const uint8_t *put_calls_at(struct compact_coder *coder, uint8_t **at,
					  const uint8_t *raw, const uint8_t *end, uint64_t *least,
					  bool is_deep)
{
	const uint64_t most = is_deep ? STACK : RECORD_DEPTH_MAX;
	uint64_t depth = coder->depth;
	uint64_t top = coder->top;
	uint64_t before_ns = coder->last_ns;
	uint32_t slot = context(top, coder->last);
	const uint8_t *first = raw;
	uint8_t *out = *at;

	*least = depth;
	for (; raw < end; raw += sizeof(struct record)) {
		uint64_t time_ns = load_word(raw);
		uint64_t data = load_word(raw + 8);
		uint64_t delta = time_ns - before_ns;
		uint32_t *learned = &coder->contexts[slot];

		if (unlikely(delta > DELTA_BYTE_MAX))
			break;
		if (data & 1) {
			uint64_t level = is_deep ? RECORD_DEPTH_MAX : depth - 1;
			uint64_t last = top;

			/*
			 * If no call is open, @top is 0. Because funcs[0] is 1, the right side of
			 * the comparison is then even. @data is odd, so the comparison fails.
			 */
			if (unlikely(data != coder->funcs[top] + (level << RECORD_DEPTH_SHIFT) + 1))
				break;
			if (is_deep && unlikely(depth <= RECORD_DEPTH_MAX))
				break;
			top = coder->stack[--depth];
			slot = context(top, last);
			*least = MIN(*least, depth);
			out = put_symbol(out, learned, SYMBOL_EXIT, delta);
		} else {
			uint64_t level = is_deep ? RECORD_DEPTH_MAX : depth;
			uint64_t word = data - (level << RECORD_DEPTH_SHIFT);
			uint64_t number = coder->slots[slot_of(word)];

			if (unlikely(depth >= most))
				break;
			if (unlikely(coder->funcs[number] != word)) {
				number = number_of_call(coder, word);
				if (!number)
					break;
			}
			top = number;
			coder->stack[++depth] = number;
			slot = context(top, 0);
			out = put_symbol(out, learned, number, delta);
		}
		before_ns = time_ns;
	}
	if (raw > first)
		coder->last = load_word(raw - 8) & 1 ? coder->stack[depth + 1] : 0;
	coder->last_ns = before_ns;
	coder->depth = depth;
	coder->top = top;
	*at = out;
	return raw;
}

/* Write the calls that put_calls_at() handles. Returns the number of bytes of their records. */
static size_t put_plain_calls(struct writing *w, uint8_t **at, const uint8_t *raw, size_t len)
{
	struct compact_coder *coder = w->coder;
	const uint8_t *end = raw + len / sizeof(struct record) * sizeof(struct record);
	uint64_t least;
	size_t done;

	if (coder->depth > STACK)
		return 0;
	if (coder->depth > RECORD_DEPTH_MAX)
		done = put_calls_at(coder, at, raw, end, &least, true) - raw;
	else
		done = put_calls_at(coder, at, raw, end, &least, false) - raw;
	if (done)
		note_call(w, load_word(raw), least);
	w->head.nr_records += done / sizeof(struct record);
	return done;
}

static uint16_t depth_at(const uint8_t *raw, size_t len)
{
	uint64_t data = len < sizeof(struct record) ? 0 : load_word(raw + 8);

	return is_call(data) ? record_depth(data) + (data & 1) : 0;
}

size_t compact_encode(struct compact_coder *coder, int32_t tid, const uint8_t *raw, size_t len,
		      bool has_more, uint8_t *out, size_t *out_len)
{
	const size_t most = MIN(len, (size_t)COMPACT_RAW_MAX);
	struct writing w = {
		.coder = coder,
		.head = { .tid = tid, .depth = depth_at(raw, len) },
		.least = RECORD_DEPTH_MAX,
	};
	uint8_t *body = out + COMPACT_HEAD_BYTES;
	uint8_t *at = body;
	size_t done = 0;

	begin_coder(coder);
	/*
	 * An empty slot contains 0. If put_calls_at() finds an empty slot for an ENTRY,
	 * put_calls_at() compares the word of the ENTRY with funcs[0]. This word is even, so an
	 * odd funcs[0] makes the comparison fail.
	 */
	coder->funcs[0] = 1;
	memset(coder->slots, 0, sizeof(coder->slots));
	for (;;) {
		size_t used = put_plain_calls(&w, &at, raw + done, most - done);

		done += used;
		if (most - done < sizeof(struct record))
			break;
		used = put_record(&w, &at, raw + done, len - done, most - done, has_more);
		if (!used)
			break;
		done += used;
	}
	/* If the file ends within a record, the bytes of this record are written as they are. */
	if (len - done < sizeof(struct record) && done < most && !has_more) {
		at = put_escape(at, ESCAPE_BYTES);
		at = put_varint(at, len - done);
		memcpy(at, raw + done, len - done);
		at += len - done;
		w.head.is_cut = true;
		done = len;
	}
	w.head.raw_len = done;
	w.head.nr_funcs = coder->nr_funcs;
	w.head.least = w.has_call ? w.least : 0;
	w.head.tokens_len = at - body;
	at = put_funcs(coder, at);
	w.head.body_len = at - body;
	w.head.sum = compact_sum(body, w.head.body_len);
	compact_head_encode(&w.head, out);
	*out_len = done ? COMPACT_HEAD_BYTES + w.head.body_len : 0;
	return done;
}
