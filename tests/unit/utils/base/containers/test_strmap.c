/* Maps from strings: many keys, values that change, missing keys. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
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
