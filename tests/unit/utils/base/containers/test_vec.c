/* Arrays that grow one by one, stacks, and tables that are indexed by number. */
#include "tests/unit/lib/unit.h"

#include "utils/base/containers/vec.h"

TEST(grows_one_by_one)
{
	uint32_t *array = NULL;

	for (size_t nr = 0; nr < 1000; nr++) {
		uint32_t *grown = vec_grow(array, nr, sizeof(*grown));

		assert_non_null(grown);
		array = grown;
		array[nr] = nr;
	}
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(array[i], i);
	free(array);
}

TEST(stack_keeps_its_room)
{
	uint32_t *stack = NULL;
	size_t cap = 0;

	for (size_t nr = 0; nr < 17; nr++) {
		stack = vec_room(stack, nr, &cap, sizeof(*stack));
		assert_non_null(stack);
		stack[nr] = nr;
	}
	assert_true(cap >= 17);

	size_t before = cap;

	for (size_t nr = 3; nr < before; nr++)
		assert_ptr_equal(vec_room(stack, nr, &cap, sizeof(*stack)), stack);
	assert_int_equal(cap, before);
	for (size_t i = 0; i < 17; i++)
		assert_int_equal(stack[i], i);
	free(stack);
}

TEST(table_has_zeros)
{
	uint32_t *table = NULL;
	size_t nr = 0;

	for (size_t number = 0; number < 300; number += 7) {
		uint32_t *reached = vec_reach(table, &nr, number, sizeof(*table));

		assert_non_null(reached);
		assert_true(nr > number);
		table = reached;
		for (size_t i = number; i < nr; i++)
			assert_int_equal(table[i], 0);
		for (size_t i = 0; i < number; i++)
			assert_int_equal(table[i], i % 7 ? 0 : i);
		table[number] = number;
	}
	free(table);
}

/*
 * SIZE_MAX is refused before memory is allocated. Other numbers that are too large are not tested,
 * since sanitizers end programs that ask for impossible amounts of memory.
 */
TEST(no_row_behind_the_last_number)
{
	size_t nr = 0;
	uint32_t *table = vec_reach(NULL, &nr, 4, sizeof(*table));

	assert_non_null(table);
	assert_int_equal(nr, 5);
	assert_null(vec_reach(table, &nr, SIZE_MAX, sizeof(*table)));
	assert_int_equal(nr, 5);
	free(table);
}
