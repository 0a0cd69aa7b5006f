/* Hashes for tables whose keys come from untrusted input: collisions are not predictable. */
#ifndef UTRAIL_BASE_HASH_H
#define UTRAIL_BASE_HASH_H

#include <stdint.h>

/*
 * Returns a random odd number, constant in a process. The call takes some 20 ns, so tables keep the
 * number.
 */
uint64_t hash_seed(void);

/* Mix all bits of @bits and of the seed into each bit of the lower half. */
static inline uint32_t hash_fold(uint64_t bits, uint64_t seed)
{
	return (bits ^ bits >> 32) * seed >> 32;
}

static inline uint32_t hash_number(uint64_t number, uint64_t seed)
{
	return hash_fold((number ^ seed) * 0x9e3779b97f4a7c15ULL, seed);
}

#endif
