/* Maps from strings: many keys, values that change, missing keys. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/base/containers/hash.h"
#include "utils/base/containers/strmap.h"

TEST(nothing_in_an_empty_map)
{
	struct strmap map cleanup_strmap = { 0 };

	assert_null(strmap_get(&map, ""));
	assert_null(strmap_get(&map, "a"));
}

TEST(many_keys)
{
	struct strmap map cleanup_strmap = { 0 };
	static char keys[5000][32];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		snprintf(keys[i], sizeof(keys[i]), "/lib%zu", i);
		assert_int_equal(strmap_put(&map, keys[i], &keys[i]), 0);
	}
	assert_int_equal(map.nr, ARRAY_SIZE(keys));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		char copy[32];

		strcpy(copy, keys[i]);
		assert_ptr_equal(strmap_get(&map, copy), &keys[i]);
	}
	assert_null(strmap_get(&map, "/lib5000"));
	assert_null(strmap_get(&map, ""));
}

TEST(values_change)
{
	struct strmap map cleanup_strmap = { 0 };
	int one;
	int two;

	assert_int_equal(strmap_put(&map, "key", &one), 0);
	assert_int_equal(strmap_put(&map, "key", &two), 0);
	assert_int_equal(map.nr, 1);
	assert_ptr_equal(strmap_get(&map, "key"), &two);
}

/* All bytes count, and so does their number. */
TEST(hashes_of_bytes)
{
	const uint64_t seed = 0x123456789abcdef1ULL;
	char text[64] = { 0 };

	for (size_t len = 0; len < 32; len++) {
		uint32_t hash = hash_bytes(text, len, seed);

		assert_int_not_equal(hash, hash_bytes(text, len + 1, seed));
		assert_int_equal(hash, hash_bytes(text + 1, len, seed));
		assert_int_not_equal(hash, hash_bytes(text, len, seed + 2));
		for (size_t i = 0; i < len; i++) {
			text[i] = 1;
			assert_int_not_equal(hash, hash_bytes(text, len, seed));
			text[i] = 0;
		}
	}
}

/*
 * Flipping the highest bits of two words changes the hash. The two changes must not cancel each
 * other, whatever the seed is.
 */
TEST(differences_of_hashes_depend_on_the_seed)
{
	uint64_t plain[2] = { 0 };
	uint64_t flipped[2] = { 1ULL << 63, 1ULL << 63 | 1ULL << 31 };
	unsigned nr = 0;

	for (uint64_t seed = 1; seed < 2000; seed += 2)
		nr += hash_bytes(plain, sizeof(plain), seed * 0xbf58476d1ce4e5b9ULL) ==
		      hash_bytes(flipped, sizeof(flipped), seed * 0xbf58476d1ce4e5b9ULL);
	assert_int_equal(nr, 0);
}
