/* Histograms: the error of each value is less than one percent. */
#include "tests/unit/lib/unit.h"

#include "utils/view/report/hist.h"

TEST(one_value)
{
	for (int bit = 0; bit < 64; bit++) {
		for (int low = -1; low < 2; low++) {
			struct hist hist = { 0 };
			uint64_t value = (1ULL << bit) + low;

			assert_int_equal(hist_add(&hist, value), 0);

			uint64_t found = hist_percentile(&hist, 500);
			uint64_t error = found > value ? found - value : value - found;

			assert_true(error <= value / 100);
			hist_deinit(&hist);
		}
	}
}

TEST(nothing)
{
	struct hist hist = { 0 };

	assert_int_equal(hist_percentile(&hist, 500), 0);
	assert_int_equal(hist_count_power(&hist, 5), 0);
}

TEST(nearest_rank)
{
	struct hist hist = { 0 };

	for (uint64_t i = 1; i <= 10; i++)
		assert_int_equal(hist_add(&hist, i), 0);
	assert_int_equal(hist_percentile(&hist, 1), 1);
	assert_int_equal(hist_percentile(&hist, 500), 5);
	assert_int_equal(hist_percentile(&hist, 501), 6);
	assert_int_equal(hist_percentile(&hist, 900), 9);
	assert_int_equal(hist_percentile(&hist, 999), 10);
	assert_int_equal(hist_percentile(&hist, 1000), 10);
	hist_deinit(&hist);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Two histograms of values of all sizes are merged. The percentiles of the result differ from the
 * exact ones by at most one percent.
 */
TEST(exact)
{
	enum {
		NR = 100000
	};
	uint64_t *values = calloc(NR, sizeof(*values));
	struct hist halves[2] = { 0 };
	uint64_t seed = 1;

	assert_non_null(values);
	for (int i = 0; i < NR; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		values[i] = seed >> (seed >> 33) % 50;
		assert_int_equal(hist_add(&halves[i % 2], values[i]), 0);
	}
	assert_int_equal(hist_merge(&halves[0], &halves[1]), 0);
	qsort(values, NR, sizeof(*values), compare);
	for (unsigned permille = 1; permille <= 1000; permille++) {
		uint64_t found = hist_percentile(&halves[0], permille);
		uint64_t right = values[(uint64_t)permille * NR / 1000 - 1];
		uint64_t error = found > right ? found - right : right - found;

		assert_true(error <= right / 100);
	}
	hist_deinit(&halves[0]);
	hist_deinit(&halves[1]);
	free(values);
}

TEST(powers)
{
	struct hist hist = { 0 };
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(hist_add(&hist, i), 0);
	assert_int_equal(hist_count_power(&hist, 0), 2);
	assert_int_equal(hist_count_power(&hist, 1), 2);
	assert_int_equal(hist_count_power(&hist, 5), 32);
	assert_int_equal(hist_count_power(&hist, 6), 64);
	assert_int_equal(hist_count_power(&hist, 9), 1000 - 512);
	for (unsigned i = 0; i < 64; i++)
		sum += hist_count_power(&hist, i);
	assert_int_equal(sum, 1000);
	hist_deinit(&hist);
}

/* A bucket spans a sixty-fourth of its values. The time of a single call is exact. */
TEST(one_value_is_all_percentiles)
{
	static const uint64_t values[] = { 129, 1000001, 1000003, 2097151 };

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct hist hist = { 0 };
		struct hist sum = { 0 };

		assert_int_equal(hist_add(&hist, values[i]), 0);
		assert_int_equal(hist_merge(&sum, &hist), 0);
		assert_int_equal(hist_percentile(&hist, 990), values[i]);
		assert_int_equal(hist_percentile(&sum, 1), values[i]);
		hist_deinit(&hist);
		hist_deinit(&sum);
	}
}
