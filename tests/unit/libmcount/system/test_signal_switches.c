/* --signal: a signal causes its action, and no other. */
#include "libmcount/system/signal_switches.h"

#include <signal.h>

#include "libmcount/hot/planned.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define BIT(sig) (1ULL << ((sig)-1))

static struct pair pair;

static int setup(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	self = pair_thread();
	assert_non_null(self);
	probe.plan.signals_on = probe.plan.signals_off = probe.plan.signals_finish = 0;
	return 0;
}

static int teardown(void **state)
{
	pair_stop(&pair);
	pair_close(&pair);
	return 0;
}

TEST_WITH(which_signals, setup, teardown)
{
	probe.plan.signals_on = BIT(1);
	probe.plan.signals_off = BIT(64);
	probe.plan.signals_finish = BIT(33);
	for (int sig = 1; sig <= 64; sig++)
		assert_int_equal(signal_switches_have(sig), sig == 1 || sig == 33 || sig == 64);
}

TEST_WITH(on_and_off, setup, teardown)
{
	probe.plan.signals_on = BIT(10);
	probe.plan.signals_off = BIT(12);
	assert_true(probe.is_on);
	signal_switches_obey(11, false);
	assert_true(probe.is_on);
	signal_switches_obey(12, false);
	assert_false(probe.is_on);
	signal_switches_obey(12, false);
	signal_switches_obey(13, false);
	assert_false(probe.is_on);
	signal_switches_obey(10, false);
	assert_true(probe.is_on);
	assert_true(probe.tracing);
	/* If a signal switches recording both on and off, recording is off afterwards. */
	probe.plan.signals_off |= BIT(10);
	signal_switches_obey(10, false);
	assert_false(probe.is_on);
	probe.is_on = true;
}

/* Signals switch nothing before there is a plan, and after the end of the recording. */
TEST_WITH(not_ready, setup, teardown)
{
	probe.plan.signals_off = BIT(12);
	probe.ready = false;
	signal_switches_obey(12, false);
	assert_true(probe.is_on);
	probe.ready = true;
}

static unsigned nr_waits;

/* The recorder sees the request at the third wait. */
static void end_at_third(void *arg)
{
	assert_int_equal(atomic_load(&probe.arena->finish_wanted), 1);
	assert_false(probe.tracing);
	if (++nr_waits == 3)
		atomic_store(&pair.rec.control->finished, 1);
}

/*
 * The probe waits until the recorder has seen the request, so that no process records any longer.
 */
TEST_WITH(the_end, setup, teardown)
{
	unsigned wakes = pair_wakes();

	probe.plan.signals_finish = BIT(15);
	pair_when_waiting(end_at_third, NULL);
	signal_switches_obey(14, false);
	assert_int_equal(nr_waits, 0);
	assert_true(probe.tracing);
	assert_false(probe.is_finished);
	signal_switches_obey(15, false);
	pair_when_waiting(NULL, NULL);
	assert_int_equal(nr_waits, 3);
	assert_int_equal(pair_wakes(), wakes + 1);
	assert_true(probe.is_finished);
	assert_true(probe.is_on);
	atomic_store(&pair.rec.control->finished, 0);
	probe.is_finished = false;
}

static void count_waits(void *arg)
{
	nr_waits++;
}

/* If the recorder does not answer, the probe stops waiting. */
TEST_WITH(no_answer, setup, teardown)
{
	nr_waits = 0;
	probe.plan.signals_finish = BIT(15);
	pair_when_waiting(count_waits, NULL);
	signal_switches_obey(15, false);
	pair_when_waiting(NULL, NULL);
	assert_true(nr_waits >= 10 && nr_waits < 10000);
	probe.is_finished = false;
}
