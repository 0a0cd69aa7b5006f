/* Integers in a stated byte order, at any alignment; the base of all codecs. */
#ifndef UTRAIL_FORMAT_BYTES_H
#define UTRAIL_FORMAT_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t get_u16(const void *p, bool big)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return big ? be16toh(v) : le16toh(v);
}

static inline uint32_t get_u32(const void *p, bool big)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return big ? be32toh(v) : le32toh(v);
}

static inline uint64_t get_u64(const void *p, bool big)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return big ? be64toh(v) : le64toh(v);
}

static inline void put_u16(void *p, uint16_t v, bool big)
{
	v = big ? htobe16(v) : htole16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_u32(void *p, uint32_t v, bool big)
{
	v = big ? htobe32(v) : htole32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_u64(void *p, uint64_t v, bool big)
{
	v = big ? htobe64(v) : htole64(v);
	memcpy(p, &v, sizeof(v));
}

#endif
