/* Integers in a given byte order, at any alignment. All codecs use them. */
#ifndef UTRAIL_FORMAT_BYTES_H
#define UTRAIL_FORMAT_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
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

/*
 * Returns the integer of the @size bytes at @p. If there are more than 8 bytes, the 8 least
 * significant bytes are used.
 */
static inline uint64_t get_uint(const uint8_t *p, size_t size, bool big)
{
	uint64_t v = 0;

	for (size_t i = 0; i < size && i < sizeof(v); i++)
		v |= (uint64_t)p[big ? size - 1 - i : i] << 8 * i;
	return v;
}

/* Returns the integer @v, sign-extended to 64 bits. @size: the size of @v in bytes, 1 to 8 */
static inline uint64_t extend_sign(uint64_t v, size_t size)
{
	unsigned unused = 64 - 8 * size;

	return (uint64_t)((int64_t)(v << unused) >> unused);
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
