/* --time-range: both limits, both kinds of time, and forms that are refused. */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "utils/base/compiler.h"
#include "utils/spec/args/range.h"

TEST(both_kinds)
{
	struct time_range r;

	assert_int_equal(time_range_parse("1.5ms~2s", &r, NULL), 0);
	assert_true(r.start.is_set && r.start.is_elapsed);
	assert_int_equal(r.start.time_ns, 1500000);
	assert_int_equal(r.stop.time_ns, 2000000000);
	assert_int_equal(time_range_parse("146.307278384~147", &r, NULL), 0);
	assert_false(r.start.is_elapsed || r.stop.is_elapsed);
	assert_int_equal(r.start.time_ns, 146307278384);
	assert_int_equal(r.stop.time_ns, 147000000000);
	assert_int_equal(time_range_parse("5us~", &r, NULL), 0);
	assert_true(r.start.is_set);
	assert_false(r.stop.is_set);
	assert_int_equal(time_range_parse("~5us", &r, NULL), 0);
	assert_false(r.start.is_set);
	assert_true(r.stop.is_set);
	assert_int_equal(time_range_parse("~", &r, NULL), 0);
	assert_false(r.start.is_set || r.stop.is_set);
}

TEST(back_from_the_end)
{
	struct time_range r = { .stop.is_set = true };
	struct uft_err err = { 0 };

	assert_int_equal(time_range_parse_last("10ms", &r, NULL), 0);
	assert_true(r.start.is_set && r.start.is_elapsed && r.start.is_from_end);
	assert_int_equal(r.start.time_ns, 10000000);
	assert_false(r.stop.is_set);
	assert_true(time_range_is_set(&r));
	assert_int_equal(time_range_parse_last("~10ms", &r, &err), -EINVAL);
	assert_int_equal(r.start.time_ns, 10000000);
}

TEST(refused)
{
	static const char *const bad[] = { "",	    "5us", "x~",    "~x",  "1~2~3",
					   "2s~1s", "2~1", "1 ms~", "-1~", "99999999999999~" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct time_range r = { .start.time_ns = 7 };
		struct uft_err err = { 0 };

		assert_int_equal(time_range_parse(bad[i], &r, &err), -EINVAL);
		assert_non_null(strstr(err.text, "invalid time range"));
		assert_int_equal(r.start.time_ns, 7);
	}
}
