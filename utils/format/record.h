/* The trace record of <tid>.dat. */
#ifndef UTRAIL_FORMAT_RECORD_H
#define UTRAIL_FORMAT_RECORD_H

#include <stdint.h>

/*
 * A record (doc/formats/records.md, "Records"), in the byte order of the traced program:
 *
 *   time   nanoseconds of the recording's clock (0 for LOST)
 *   data   bits 0-1: type, 2: more, 3-5: magic, 6-15: depth, 16-63: address
 *
 * - address: an address inside the function (ENTRY, EXIT), an event id (EVENT), or the number of
 *   lost records (LOST)
 * - more: a payload follows the record. The payload is padded to a multiple of 8 bytes
 */
struct record {
	uint64_t time_ns;
	uint64_t data;
};
_Static_assert(sizeof(struct record) == 16, "a record is 16 bytes on disk");

enum record_type {
	RECORD_ENTRY = 0,
	RECORD_EXIT = 1,
	RECORD_LOST = 2,
	RECORD_EVENT = 3,
};

#define RECORD_TYPE_MASK   0x3ULL
#define RECORD_MORE	   0x4ULL
#define RECORD_MAGIC_SHIFT 3
#define RECORD_MAGIC	   5ULL	  /* three bits, in version 4 */
#define RECORD_MAGIC_V3	   0xaULL /* four bits, in version 3: RECORD_MORE and bits 3 to 5 */
#define RECORD_DEPTH_SHIFT 6
#define RECORD_DEPTH_MAX   1023
#define RECORD_ADDR_SHIFT  16
#define RECORD_ADDR_MASK   ((1ULL << 48) - 1)

/*
 * Returns the data word of a record without payload, in version 4 of the format. If @depth is above
 * 1023, the word contains 1023.
 */
static inline uint64_t record_data(enum record_type type, unsigned depth, uint64_t addr)
{
	uint64_t d = depth > RECORD_DEPTH_MAX ? RECORD_DEPTH_MAX : depth;

	return (uint64_t)type | (RECORD_MAGIC << RECORD_MAGIC_SHIFT) | (d << RECORD_DEPTH_SHIFT) |
	       (addr << RECORD_ADDR_SHIFT);
}

static inline enum record_type record_type(uint64_t data)
{
	return (enum record_type)(data & RECORD_TYPE_MASK);
}

static inline int record_has_more(uint64_t data)
{
	return (data & RECORD_MORE) != 0;
}

static inline unsigned record_depth(uint64_t data)
{
	return (data >> RECORD_DEPTH_SHIFT) & RECORD_DEPTH_MAX;
}

static inline uint64_t record_addr(uint64_t data)
{
	return data >> RECORD_ADDR_SHIFT;
}

static inline int record_magic_is_good(uint64_t data)
{
	return ((data >> RECORD_MAGIC_SHIFT) & 7) == RECORD_MAGIC;
}

#endif
