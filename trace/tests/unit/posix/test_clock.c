/* The offset between two clocks, although the thread does not run for a while between readings. */
#include "posix/posix.h"
#include "tests/unit/lib/unit.h"

/* Simulated clocks: each reading takes @step_ns. One reading takes PAUSE_NS more. */
#define OFFSET_NS 1700000000000000000ULL
#define PAUSE_NS  5000000000ULL

static uint64_t now_ns;
static uint64_t step_ns;
static unsigned nr_readings;
static unsigned slow_reading; /* counted from 1; 0: none */

uint64_t __wrap_pxt_clock_ns(clockid_t clock);
uint64_t __wrap_pxt_clock_ns(clockid_t clock)
{
	now_ns += step_ns;
	if (++nr_readings == slow_reading)
		now_ns += PAUSE_NS;
	return clock == CLOCK_REALTIME ? now_ns + OFFSET_NS : now_ns;
}

static uint64_t offset(unsigned slow)
{
	now_ns = 1000;
	step_ns = 20;
	nr_readings = 0;
	slow_reading = slow;
	return pxt_clock_offset_ns();
}

TEST(both_clocks_are_read_at_one_moment)
{
	assert_int_equal(offset(0), OFFSET_NS);
	assert_true(nr_readings > 0);
	for (unsigned slow = 1; slow <= nr_readings; slow++)
		assert_int_equal(offset(slow), OFFSET_NS);
}

/* A coarse clock may not advance between readings. */
TEST(clocks_that_stand_still)
{
	step_ns = 0;
	now_ns = 7;
	slow_reading = 0;
	assert_int_equal(pxt_clock_offset_ns(), OFFSET_NS);
}
