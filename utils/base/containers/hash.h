/*
 * Places in tables of keys that strangers have chosen: nobody can tell beforehand which numbers or
 * texts get the same one.
 */
#ifndef UTRAIL_BASE_HASH_H
#define UTRAIL_BASE_HASH_H

#include <stdint.h>

/* Random, odd, and the same for the whole process. Takes some 20 ns: tables keep it. */
uint64_t hash_seed(void);

/* All bits of @bits and of the seed in each bit of the lower half. */
static inline uint32_t hash_fold(uint64_t bits, uint64_t seed)
{
	return (bits ^ bits >> 32) * seed >> 32;
}

static inline uint32_t hash_number(uint64_t number, uint64_t seed)
{
	return hash_fold((number ^ seed) * 0x9e3779b97f4a7c15ULL, seed);
}

#endif
