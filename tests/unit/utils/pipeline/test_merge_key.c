/* Keys of the merge by time: their parts, and their order by time and then by lane. */
#include "tests/unit/lib/unit.h"

#include "utils/pipeline/merge_key.h"

static const uint64_t times[] = { 0, 1, 1000, MERGE_KEY_END - 1, MERGE_KEY_END };
static const size_t lanes[] = { 0, 1, 7, 100000, SIZE_MAX };

TEST(parts_of_keys)
{
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(lanes); k++) {
			merge_key_t key = merge_key_of(times[i], lanes[k]);

			assert_int_equal(merge_key_time(key), times[i]);
			assert_int_equal(merge_key_index(key), lanes[k]);
		}
	}
	/* Times after MERGE_KEY_END get the key of MERGE_KEY_END. */
	assert_int_equal(merge_key_time(merge_key_of(MERGE_KEY_END + 1, 5)), MERGE_KEY_END);
	assert_int_equal(merge_key_time(merge_key_of(UINT64_MAX, 5)), MERGE_KEY_END);
	assert_int_equal(merge_key_index(merge_key_of(UINT64_MAX, 5)), 5);
}

static void check_pair(uint64_t time, size_t lane, uint64_t other_time, size_t other_lane)
{
	const merge_key_t pair[2] = { merge_key_of(time, lane),
				      merge_key_of(other_time, other_lane) };
	bool is_second = other_time != time ? other_time < time : other_lane < lane;
	size_t which = 5;
	merge_key_t first = merge_key_first(pair, &which);

	assert_int_equal(which, is_second);
	assert_int_equal(merge_key_time(first), is_second ? other_time : time);
	assert_int_equal(merge_key_index(first), is_second ? other_lane : lane);
	assert_int_equal(merge_key_is_before(pair[1], pair[0]), is_second);
	assert_int_equal(merge_key_is_before(pair[0], pair[1]),
			 !is_second && (time != other_time || lane != other_lane));
	first = merge_key_min(pair[0], pair[1]);
	assert_int_equal(merge_key_time(first), is_second ? other_time : time);
	assert_int_equal(merge_key_index(first), is_second ? other_lane : lane);
}

TEST(order_of_keys)
{
	for (size_t i = 0; i < ARRAY_SIZE(times) * ARRAY_SIZE(lanes); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(times) * ARRAY_SIZE(lanes); k++)
			check_pair(times[i / ARRAY_SIZE(lanes)], lanes[i % ARRAY_SIZE(lanes)],
				   times[k / ARRAY_SIZE(lanes)], lanes[k % ARRAY_SIZE(lanes)]);
	}
}
