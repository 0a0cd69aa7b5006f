/* A random number for hashes (see hash.h). */
#include "utils/base/containers/hash.h"

#include <string.h>
#include <sys/auxv.h>

uint64_t hash_seed(void)
{
	/*
	 * The kernel gives each program 16 random bytes (AT_RANDOM). libc takes its secrets from
	 * these bytes: the mixed result must not reveal them.
	 */
	const char *random = (const char *)getauxval(AT_RANDOM);
	uint64_t halves[2];

	if (!random)
		return 1;
	memcpy(halves, random, sizeof(halves));
	return (halves[0] ^ (halves[1] << 32 | halves[1] >> 32)) * 0xbf58476d1ce4e5b9ULL | 1;
}
