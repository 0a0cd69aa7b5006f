/* Blocks of memory, all of one size. */
#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/containers/blocks.h"

TEST(last_given_is_next_taken)
{
	struct blocks blocks;

	assert_int_equal(blocks_init(&blocks, 3, 5000), 0);

	char *a = blocks_take(&blocks, 5000);
	char *b = blocks_take(&blocks, 5000);
	char *c = blocks_take(&blocks, 1);

	memset(a, 'a', 5000);
	memset(b, 'b', 5000);
	memset(c, 'c', 5000);
	assert_int_equal(a[4999], 'a');
	assert_int_equal(b[0], 'b');
	blocks_give(&blocks, a);
	blocks_give(&blocks, b);
	assert_ptr_equal(blocks_take(&blocks, 5000), b);
	assert_ptr_equal(blocks_take(&blocks, 5000), a);
	assert_int_equal(a[0], 'a');
	blocks_deinit(&blocks);
	assert_null(blocks.base);
	blocks_deinit(&blocks);
}

/* Objects beyond the number, larger ones, and those of size zero come from malloc(). */
TEST(others_go_by_malloc)
{
	struct blocks blocks;
	struct blocks nothing = { 0 };

	assert_int_equal(blocks_init(&blocks, 1, 100), 0);

	void *first = blocks_take(&blocks, 100);
	void *second = blocks_take(&blocks, 100);
	void *large = blocks_take(&blocks, 100000);
	void *other = blocks_take(&nothing, 100);

	memset(large, 1, 100000);
	blocks_give(&blocks, large);
	blocks_give(&blocks, second);
	blocks_give(&blocks, first);
	blocks_give(&blocks, NULL);
	assert_ptr_equal(blocks_take(&blocks, 100), first);
	blocks_give(&nothing, other);
	blocks_give(&nothing, NULL);
	blocks_deinit(&blocks);
	blocks_deinit(&nothing);
}

/* The unused line after a block belongs to no object. */
TEST(larger_by_less_than_a_line)
{
	struct blocks blocks;

	assert_int_equal(blocks_init(&blocks, 1, 128), 0);

	void *larger = blocks_take(&blocks, 129);
	void *block = blocks_take(&blocks, 128);

	assert_ptr_not_equal(larger, blocks.base);
	assert_ptr_equal(block, blocks.base);
	blocks_give(&blocks, larger);
	blocks_give(&blocks, block);
	blocks_deinit(&blocks);
}

TEST(too_many)
{
	struct blocks blocks;

	assert_int_equal(blocks_init(&blocks, SIZE_MAX / 2, SIZE_MAX / 2), -ENOMEM);
	assert_null(blocks.base);
	blocks_deinit(&blocks);
}
