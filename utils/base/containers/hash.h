/*
 * Hashes for tables whose keys come from untrusted input: an attacker who does not know the seed
 * cannot predict collisions.
 */
#ifndef UTRAIL_BASE_HASH_H
#define UTRAIL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns a random odd number, which is the same for the whole process. A call takes some 20 ns, so
 * each table keeps the number.
 */
uint64_t hash_seed(void);

/*
 * Returns 32 bits. Each of them depends on all bits of @bits, and on at least the lowest 33 bits of
 * @seed.
 */
static inline uint32_t hash_fold(uint64_t bits, uint64_t seed)
{
	return (bits ^ bits >> 32) * seed >> 32;
}

static inline uint32_t hash_number(uint64_t number, uint64_t seed)
{
	return hash_fold((number ^ seed) * 0x9e3779b97f4a7c15ULL, seed);
}

/* Returns 32 bits for the @len bytes at @bytes, which may have any alignment. */
uint32_t hash_bytes(const void *bytes, size_t len, uint64_t seed);

#endif
