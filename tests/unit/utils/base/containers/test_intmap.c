/* Maps from numbers: many keys, values that change, missing keys. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/base/containers/intmap.h"

TEST(nothing_in_an_empty_map)
{
	struct intmap map cleanup_intmap = { 0 };

	assert_null(intmap_get(&map, 0));
	assert_null(intmap_get(&map, 1));
}

TEST(many_keys)
{
	static const uint64_t steps[] = { 1, 4096, 1ULL << 32, 1ULL << 40 };
	static char values[5000];

	for (size_t s = 0; s < ARRAY_SIZE(steps); s++) {
		struct intmap map cleanup_intmap = { 0 };

		for (size_t i = 0; i < ARRAY_SIZE(values); i++)
			assert_int_equal(intmap_put(&map, i * steps[s], &values[i]), 0);
		assert_int_equal(map.nr, ARRAY_SIZE(values));
		for (size_t i = 0; i < ARRAY_SIZE(values); i++)
			assert_ptr_equal(intmap_get(&map, i * steps[s]), &values[i]);
		assert_null(intmap_get(&map, ARRAY_SIZE(values) * steps[s]));
	}
}

TEST(values_change)
{
	struct intmap map cleanup_intmap = { 0 };
	int one;
	int two;

	assert_int_equal(intmap_put(&map, 0, &one), 0);
	assert_int_equal(intmap_put(&map, 0, &two), 0);
	assert_int_equal(map.nr, 1);
	assert_ptr_equal(intmap_get(&map, 0), &two);
}
