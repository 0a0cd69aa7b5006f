/* Entries that wait for their ends. */
#include <stdint.h>

#include "tests/unit/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/view/replay/pending.h"

TEST(test_one)
{
	struct pending pending = { 0 };
	uint64_t ns = 0;

	assert_false(pending_end(&pending, "a", 1, &ns));
	assert_int_equal(pending_begin(&pending, "a", 1, 5), 0);
	assert_int_equal(pending_begin(&pending, "ab", 2, 6), 0);
	assert_int_equal(pending_begin(&pending, "", 0, 7), 0);
	assert_int_equal(pending_begin(&pending, "a", 1, 8), 1);
	assert_int_equal(pending.nr, 3);
	assert_int_equal(pending.bytes, 3);
	assert_true(pending_end(&pending, "a", 1, &ns));
	assert_int_equal(ns, 8);
	assert_false(pending_end(&pending, "a", 1, &ns));
	assert_true(pending_end(&pending, "", 0, &ns));
	assert_int_equal(ns, 7);
	assert_true(pending_end(&pending, "ab", 2, &ns));
	assert_int_equal(ns, 6);
	assert_int_equal(pending.nr, 0);
	assert_int_equal(pending.bytes, 0);
	pending_deinit(&pending);
}

/* Entries come and go: only those that wait take memory. */
TEST(test_many)
{
	struct pending pending = { 0 };
	char key[32];
	uint64_t ns;

	for (int nr = 0; nr < 20000; nr++) {
		int len = snprintf(key, sizeof(key), "%d", nr);

		assert_int_equal(pending_begin(&pending, key, len, nr), 0);
		if (nr < 1000)
			continue;
		len = snprintf(key, sizeof(key), "%d", nr - 1000);
		assert_true(pending_end(&pending, key, len, &ns));
		assert_int_equal(ns, nr - 1000);
		assert_int_equal(pending.nr, 1000);
	}
	assert_true(pending.nr_slots <= 2048);
	pending_deinit(&pending);
}

TEST(test_limit)
{
	struct pending pending = { 0 };
	size_t len = 1 << 20;
	char *key = calloc(1, len);

	assert_non_null(key);
	for (size_t i = 0; i < PENDING_BYTES_MAX / len; i++) {
		key[0] = i;
		key[1] = i >> 8;
		assert_int_equal(pending_begin(&pending, key, len, i), 0);
	}
	assert_int_equal(pending_begin(&pending, "x", 1, 1), -ENOSPC);
	/* An entry that waits already is found, even if there is no room for another one. */
	assert_int_equal(pending_begin(&pending, key, len, 2), 1);
	pending_deinit(&pending);
	free(key);
}
