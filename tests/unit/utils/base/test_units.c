/* Times and sizes as people type them: accepted forms, refused ones, and overflows. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/base/units.h"

TEST(times)
{
	static const struct {
		const char *text;
		uint64_t time_ns;
	} good[] = {
		{ "0", 0 },
		{ "200", 200 },
		{ "1ns", 1 },
		{ "3nsec", 3 },
		{ "2us", 2000 },
		{ "2USEC", 2000 },
		{ "1.5ms", 1500000 },
		{ "1.005msec", 1005000 },
		{ "2s", 2 * NSEC_PER_SEC },
		{ "0.000000001sec", 1 },
		{ "1m", 60 * NSEC_PER_SEC },
		{ "1.5min", 90 * NSEC_PER_SEC },
		{ "1.9ns", 1 },
	};
	static const char *const bad[] = { "",	   "x",	  "ms",	 "1x",	 "1 ms",  "-1",
					   "1ms ", ".5s", "1e3", "0x10", "1.2.3", "+1" };
	uint64_t ns;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(parse_time(good[i].text, &ns, NULL), 0);
		assert_int_equal(ns, good[i].time_ns);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct uft_err err = { 0 };

		ns = 77;
		assert_int_equal(parse_time(bad[i], &ns, &err), -EINVAL);
		assert_int_equal(ns, 77);
		assert_non_null(strstr(err.text, "expected"));
	}
	assert_int_equal(parse_time("9223372036854775807", &ns, NULL), 0);
	assert_int_equal(parse_time("9223372036854775808", &ns, NULL), -ERANGE);
	assert_int_equal(parse_time("99999999999999999999s", &ns, NULL), -ERANGE);
	assert_int_equal(parse_time("9223372037s", &ns, NULL), -ERANGE);
	assert_int_equal(parse_time("9223372036.854775807s", &ns, NULL), 0);
	assert_int_equal(ns, INT64_MAX);
	assert_int_equal(parse_time("9223372036.854775808s", &ns, NULL), -ERANGE);
	assert_int_equal(parse_time("9223372036.9s", &ns, NULL), -ERANGE);
}

TEST(sizes)
{
	uint64_t bytes;

	assert_int_equal(parse_size("4096", &bytes, NULL), 0);
	assert_int_equal(bytes, 4096);
	assert_int_equal(parse_size("128k", &bytes, NULL), 0);
	assert_int_equal(bytes, 128 << 10);
	assert_int_equal(parse_size("4M", &bytes, NULL), 0);
	assert_int_equal(bytes, 4 << 20);
	assert_int_equal(parse_size("1g", &bytes, NULL), 0);
	assert_int_equal(bytes, 1 << 30);
	assert_int_equal(parse_size("", &bytes, NULL), -EINVAL);
	assert_int_equal(parse_size("k", &bytes, NULL), -EINVAL);
	assert_int_equal(parse_size("1kb", &bytes, NULL), -EINVAL);
	assert_int_equal(parse_size("1.5k", &bytes, NULL), -EINVAL);
	assert_int_equal(parse_size("-1", &bytes, NULL), -EINVAL);
	assert_int_equal(parse_size("99999999999g", &bytes, NULL), -ERANGE);
}
