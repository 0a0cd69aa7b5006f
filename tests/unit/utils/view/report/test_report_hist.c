/* Times, and the powers of two that they are in. */
#include <stdint.h>

#include "tests/unit/lib/unit.h"

#include "utils/view/report/report_hist.h"

TEST(test_percentiles)
{
	struct hist times = { 0 };

	assert_int_equal(hist_percentile(&times, 0), 0);
	assert_int_equal(hist_percentile(&times, 500), 0);
	assert_int_equal(hist_percentile(&times, 1000), 0);
	/* The middle of a bucket may be outside of the measured range. */
	assert_int_equal(hist_add(&times, 1000001), 0);
	for (unsigned permille = 0; permille <= 1000; permille += 250)
		assert_int_equal(hist_percentile(&times, permille), 1000001);
	assert_int_equal(hist_add(&times, 7), 0);
	assert_int_equal(hist_add(&times, 2000003), 0);
	assert_int_equal(hist_percentile(&times, 0), 7);
	assert_int_equal(hist_percentile(&times, 1), 7);
	assert_in_range(hist_percentile(&times, 500), 990000, 1010000);
	assert_int_equal(hist_percentile(&times, 1000), 2000003);
	hist_deinit(&times);
}

TEST(test_powers)
{
	struct hist times = { 0 };
	unsigned first, last;

	assert_false(hist_powers(&times, &first, &last));
	assert_int_equal(hist_add(&times, 9), 0);
	assert_true(hist_powers(&times, &first, &last));
	assert_int_equal(first, 3);
	assert_int_equal(last, 3);
	assert_int_equal(hist_add(&times, 0), 0);
	assert_int_equal(hist_add(&times, UINT64_MAX), 0);
	assert_true(hist_powers(&times, &first, &last));
	assert_int_equal(first, 0);
	assert_int_equal(last, 63);
	assert_int_equal(hist_power_from(0), 0);
	assert_int_equal(hist_power_to(0), 2);
	assert_int_equal(hist_power_from(3), 8);
	assert_int_equal(hist_power_to(3), 16);
	assert_int_equal(hist_power_to(63), UINT64_MAX);
	hist_deinit(&times);
}
