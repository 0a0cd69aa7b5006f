/* A random number for hashes, and hashes of bytes (see hash.h). */
#include "utils/base/containers/hash.h"

#include <string.h>
#include <sys/auxv.h>

uint64_t hash_seed(void)
{
	/*
	 * The kernel gives each program 16 random bytes (AT_RANDOM). libc takes its secrets from
	 * these bytes. Mixing the two halves keeps the result from revealing these secrets.
	 */
	const char *random = (const char *)getauxval(AT_RANDOM);
	uint64_t halves[2];

	if (!random)
		return 1;
	memcpy(halves, random, sizeof(halves));
	return (halves[0] ^ (halves[1] << 32 | halves[1] >> 32)) * 0xbf58476d1ce4e5b9ULL | 1;
}

/*
 * Without the multiplication by @seed, a flip of a word's highest bit would always flip the same
 * bits of the result. A change of the next word could flip these bits back, so that different bytes
 * have the same hash. With the multiplication, the seed decides which bits change.
 */
static uint64_t add_word(uint64_t hash, uint64_t word, uint64_t seed)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return (hash ^ hash >> 32) * seed;
}

uint32_t hash_bytes(const void *bytes, size_t len, uint64_t seed)
{
	const char *at = bytes;
	uint64_t hash = seed ^ len;
	uint64_t word;

	for (; len >= sizeof(word); at += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = add_word(hash, word, seed);
	}
	word = 0;
	if (len)
		memcpy(&word, at, len);
	return hash_fold(add_word(hash, word, seed), seed);
}
