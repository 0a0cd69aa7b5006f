/* Numbers and times in their columns. */
#include "tests/unit/lib/unit.h"

#include "utils/view/values/number.h"

TEST(times)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} samples[] = {
		{ 0, "          " },
		{ 1, "  0.001 us" },
		{ 31, "  0.031 us" },
		{ 999999, "999.999 us" },
		{ 1000000, "  1.000 ms" },
		{ 1234567, "  1.234 ms" },
		{ 59999999999, " 59.999  s" },
		{ 65000000000, "  1.005  m" },
		{ 23 * 60000000000, " 23.000  m" },
		{ 24 * 60000000000, "  1.000  h" },
		{ UINT64_MAX, "999.999  h" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		char text[TIME_MAX_BYTES + 1];

		*put_time(text, samples[i].ns) = '\0';
		assert_string_equal(text, samples[i].text);
	}
}

TEST(colours)
{
	char text[TIME_MAX_BYTES + 1];

	*put_time_color(text, 31, COLOR_MODE_TERM) = '\0';
	assert_string_equal(text, "  0.031 us");
	*put_time_color(text, 2000000, COLOR_MODE_TERM) = '\0';
	assert_string_equal(text, "  2.000 \33[32mms\33[0m");
	*put_time_color(text, 2000000, COLOR_MODE_OFF) = '\0';
	assert_string_equal(text, "  2.000 ms");
}

TEST(timestamps)
{
	char text[64];

	*put_timestamp(text, 1892531606135ULL) = '\0';
	assert_string_equal(text, "    1892.531606135");
	*put_timestamp(text, 1) = '\0';
	assert_string_equal(text, "       0.000000001");
	*put_timestamp(text, UINT64_MAX) = '\0';
	assert_string_equal(text, "18446744073.709551615");
}

TEST(integers)
{
	char text[64];

	*put_dec(text, 0, 3) = '\0';
	assert_string_equal(text, "  0");
	*put_dec(text, 12345, 3) = '\0';
	assert_string_equal(text, "12345");
	*put_dec(text, UINT64_MAX, 0) = '\0';
	assert_string_equal(text, "18446744073709551615");
	*put_hex(text, 0xdeadbeef, 12) = '\0';
	assert_string_equal(text, "    deadbeef");
	*put_hex(text, UINT64_MAX, 0) = '\0';
	assert_string_equal(text, "ffffffffffffffff");
}
