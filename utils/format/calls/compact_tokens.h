/* Tokens of compact blocks, and the state that writers and readers derive from them. */
#ifndef UTRAIL_FORMAT_COMPACT_TOKENS_H
#define UTRAIL_FORMAT_COMPACT_TOKENS_H

#include <endian.h>
#include <string.h>

#include "utils/base/compiler.h"
#include "utils/format/calls/compact.h"
#include "utils/format/record.h"

/* The size of compact_coder.slots: a power of two, and at least twice COMPACT_FUNCS_MAX. */
#define SLOTS	      8192
#define CONTEXTS_BITS 12
/*
 * compact_coder.stack has STACK entries for open calls. STACK is a power of two. Open calls whose
 * depths differ by a multiple of STACK share an entry.
 */
#define STACK	      4096

/*
 * The kind of a token: the two low bits of its first byte. A token of a call stands for a symbol.
 * Two kinds choose the symbol by the token's context. context() computes the context from
 * compact_coder.top and compact_coder.last.
 */
enum token {
	TOKEN_LIKELY,	/* the most recent symbol in the token's context */
	TOKEN_UNLIKELY, /* the most recent symbol in the context that is not TOKEN_LIKELY's */
	TOKEN_NUMBER,	/* the symbol follows, in one or two bytes (NUMBER_SHORT) */
	TOKEN_ESCAPE,	/* not a call: see enum escape */
};

/*
 * The six high bits of a token's first byte: enum escape, or the time since the previous record. If
 * the value of these bits is from DELTA_SHORT to DELTA_VARINT - 1, a second byte follows. In this
 * case the time is DELTA_SHORT + (value - DELTA_SHORT) * 256 + the second byte.
 */
#define TOKEN_BITS     2
#define DELTA_SHORT    48 /* smaller values are the time in nanoseconds */
#define DELTA_VARINT   63 /* the time is in a varint, which follows */
#define DELTA_BYTE_MAX (DELTA_SHORT + (DELTA_VARINT - DELTA_SHORT) * 256 - 1)
#define DELTA_MAX      (1ULL << 48)

/* Returns the kind of a token, by its first byte. */
static inline enum token token_of(unsigned first)
{
	return first & ((1U << TOKEN_BITS) - 1);
}

/* A function's number takes one byte if it is below NUMBER_SHORT, and two bytes otherwise. */
#define NUMBER_SHORT 224

enum escape {
	ESCAPE_WORDS,	/* varint n: uncompressed records follow, in n words of 8 bytes */
	ESCAPE_PAYLOAD, /* varint n: the next record has a payload of n words */
	ESCAPE_TOP,	/* number: the function of the innermost open call */
	ESCAPE_DEPTH,	/* u16: the number of open calls */
	ESCAPE_TIME,	/* u64: the time from which the next record's time is counted */
	ESCAPE_BYTES,	/* varint n: uncompressed records follow, in n bytes */
};

/*
 * The symbol of an EXIT. The symbol of an ENTRY is the number of its function, which is at least 1.
 */
#define SYMBOL_EXIT 0

/*
 * The part of a record's second word that names a function: all bits except type, MORE and depth.
 */
#define WORD_DEPTH_MASK ((uint64_t)RECORD_DEPTH_MAX << RECORD_DEPTH_SHIFT)
#define WORD_MASK	(~(WORD_DEPTH_MASK | RECORD_MORE | RECORD_TYPE_MASK))

/*
 * @contexts: the symbols of TOKEN_LIKELY (low half) and TOKEN_UNLIKELY (high half). The index is
 *            context()
 * @funcs: the second word of a function's records. The index is the function's number, from 1 on
 * @stack: the numbers of the functions of open calls (frame()); 0: an unknown function. stack[0]
 *         belongs to no call, and is always 0
 * @slots: a hash table that only writers use. The key is an element of @funcs. The value is the
 *         index of this element, or 0 in a free slot
 * @depth: number of open calls
 * @top: the function of the innermost open call; 0: the function is unknown, or no call is open
 * @last: the function of the last call that has returned to @top; 0: none
 */
struct compact_coder {
	uint32_t contexts[1U << CONTEXTS_BITS];
	uint64_t funcs[COMPACT_FUNCS_MAX + 1];
	uint16_t stack[1 + STACK];
	uint16_t slots[SLOTS];
	uint32_t nr_funcs;
	uint64_t last_ns;
	uint32_t depth;
	uint32_t top;
	uint32_t last;
};

static inline uint64_t load_word(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

static inline void store_word(uint8_t *at, uint64_t word)
{
	word = htole64(word);
	memcpy(at, &word, sizeof(word));
}

static inline uint32_t context(uint32_t top, uint32_t last)
{
	return (top * 0x9e3779b1U + last * 0x85ebca6bU) >> (32 - CONTEXTS_BITS);
}

static inline void begin_coder(struct compact_coder *coder)
{
	memset(coder->contexts, 0, sizeof(coder->contexts));
	memset(coder->stack, 0, sizeof(coder->stack));
	/* No function has the number 0, and no record has the word 0. */
	coder->funcs[0] = 0;
	coder->nr_funcs = 0;
	coder->last_ns = 0;
	coder->depth = 0;
	coder->top = 0;
	coder->last = 0;
}

static inline uint16_t *frame(struct compact_coder *coder, uint32_t depth)
{
	return &coder->stack[1 + depth % STACK];
}

/* Set the number of open calls. If the number grows, the added calls have unknown functions. */
static inline void set_depth(struct compact_coder *coder, uint32_t depth)
{
	/*
	 * An escape may open 65,535 calls, but @stack has only STACK entries for calls. Therefore
	 * only the entries of the last STACK calls are cleared, and no entry is cleared twice.
	 */
	uint32_t first = depth > STACK ? MAX(coder->depth, depth - STACK) : coder->depth;

	for (uint32_t i = first; i < depth; i++)
		*frame(coder, i) = 0;
	coder->depth = depth;
	coder->top = depth ? *frame(coder, depth - 1) : 0;
	coder->last = 0;
}

static inline void set_top(struct compact_coder *coder, uint32_t number)
{
	*frame(coder, coder->depth - 1) = number;
	coder->top = number;
}

/* HOT */
static inline void exit_coded_call(struct compact_coder *coder)
{
	coder->last = coder->top;
	coder->depth--;
	coder->top = coder->depth ? *frame(coder, coder->depth - 1) : 0;
}

static inline void enter_coded_call(struct compact_coder *coder, uint32_t number)
{
	*frame(coder, coder->depth++) = number;
	coder->top = number;
	coder->last = 0;
}

/* Write the header of a block to @out (compact.c). */
void compact_head_encode(const struct compact_head *head, uint8_t *out);

#endif
