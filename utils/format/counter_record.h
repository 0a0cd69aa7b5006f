/* The value of a counter, in EVENT records without payload (doc/formats/records.md, "Counters"). */
#ifndef UTRAIL_FORMAT_COUNTER_RECORD_H
#define UTRAIL_FORMAT_COUNTER_RECORD_H

#include <stdbool.h>

#include "utils/format/record.h"

/*
 * A value is split into pieces of 24 bits, the lowest bits first. Each record has one piece.
 * Payloads are not used, since uftrace 0.13 would stop at an unknown payload.
 *
 * - The low 32 bits of the record's address are the counter's id. The next 16 bits of the address
 *   are the low 16 bits of the piece.
 * - The record's depth has the upper 8 bits of the piece.
 * - If the depth has the bit COUNTER_PIECE_MORE, the next record has the same time and id, and has
 *   another piece.
 */
#define COUNTER_PIECES_MAX 3
#define COUNTER_PIECE_BITS 24
#define COUNTER_PIECE_MORE 0x200U

static inline unsigned counter_pieces(uint64_t value)
{
	return 1 + (value >> COUNTER_PIECE_BITS != 0) + (value >> 2 * COUNTER_PIECE_BITS != 0);
}

/* Returns the data word of piece @i of @nr. */
static inline uint64_t counter_piece(uint32_t id, uint64_t value, unsigned i, unsigned nr)
{
	uint64_t piece = value >> i * COUNTER_PIECE_BITS;
	unsigned more = i + 1 < nr ? COUNTER_PIECE_MORE : 0;

	return record_data(RECORD_EVENT, (piece >> 16 & 0xff) | more, (piece & 0xffff) << 32 | id);
}

static inline uint32_t counter_piece_id(uint64_t data)
{
	return (uint32_t)record_addr(data);
}

static inline bool counter_piece_has_more(uint64_t data)
{
	return record_depth(data) & COUNTER_PIECE_MORE;
}

/* Returns the bits of piece @i from the data word @data, shifted to their place in the value. */
static inline uint64_t counter_piece_value(uint64_t data, unsigned i)
{
	uint64_t piece = record_addr(data) >> 32 | (uint64_t)(record_depth(data) & 0xff) << 16;

	return piece << i * COUNTER_PIECE_BITS;
}

#endif
