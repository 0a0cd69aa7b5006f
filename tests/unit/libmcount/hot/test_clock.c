/*
 * The clock is that of the kernel, or the counter fitted to it. Each test reads both several times.
 */
#include <time.h>

#include "libmcount/hot/fast.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"

#define MS 1000000ULL
#define S  1000000000ULL

static struct pair pair;
static struct thread *t;

static int setup(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	t = self = pair_thread();
	assert_non_null(t);
	probe.has_counter = true;
	t->base_counter = t->base_ns = t->mult = t->refit_ticks = t->last_ns = t->fit_ns = 0;
	return 0;
}

static int teardown(void **state)
{
	pair_stop(&pair);
	pair_close(&pair);
	return 0;
}

static uint64_t kernel_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * S + ts.tv_nsec;
}

TEST_WITH(the_kernels_clock_is_the_one_of_the_plan, setup, teardown)
{
	static const clockid_t ids[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME };

	for (unsigned i = 0; i < ARRAY_SIZE(ids); i++) {
		uint64_t before;
		uint64_t now;

		probe.plan.clock_id = ids[i];
		before = kernel_ns(ids[i]);
		now = clock_kernel_ns();
		assert_in_range(now, before, kernel_ns(ids[i]));
	}
}

TEST_WITH(the_plan_says_whether_there_is_a_counter, setup, teardown)
{
	probe.plan.clock = PLAN_CLOCK_GETTIME;
	clock_setup();
	assert_false(probe.has_counter);
	probe.plan.clock = PLAN_CLOCK_COUNTER;
	clock_setup();
	assert_true(probe.has_counter);
}

TEST_WITH(without_a_counter_each_reading_is_the_kernels, setup, teardown)
{
	uint64_t before = kernel_ns(CLOCK_MONOTONIC);
	uint64_t now;

	probe.has_counter = false;
	now = clock_refit(t);
	assert_in_range(now, before, kernel_ns(CLOCK_MONOTONIC));
	assert_int_equal(t->refit_ticks, 0);
	assert_int_equal(t->mult, 0);
	pair_pass(S);
	now = hot_clock(t);
	assert_in_range(now, before + S, kernel_ns(CLOCK_MONOTONIC));
	/* The clock never goes back. */
	t->last_ns = before + 1000 * S;
	assert_int_equal(hot_clock(t), before + 1000 * S);
}

/* Check that the fit begins now, and that its scale comes from its former beginning and now. */
static void check_fit(uint64_t from_counter, uint64_t from_ns)
{
	uint64_t counter = arch_counter_read();
	uint64_t ns = kernel_ns(CLOCK_MONOTONIC);
	uint64_t now = clock_refit(t);

	assert_in_range(now, ns, kernel_ns(CLOCK_MONOTONIC));
	assert_int_equal(t->base_ns, now);
	assert_in_range(t->base_counter, counter, arch_counter_read());
	assert_int_equal(t->mult,
			 ((t->base_ns - from_ns) << 32) / (t->base_counter - from_counter));
	assert_int_equal(t->refit_ticks, (t->fit_ns << 32) / t->mult);
}

static void let_ticks_pass(void)
{
	uint64_t from = kernel_ns(CLOCK_MONOTONIC);

	while (kernel_ns(CLOCK_MONOTONIC) - from < 20000)
		;
}

TEST_WITH(the_first_fit_goes_back_to_the_anchor, setup, teardown)
{
	probe.plan.anchor_counter = arch_counter_read();
	probe.plan.anchor_ns = kernel_ns(CLOCK_MONOTONIC);
	let_ticks_pass();
	check_fit(probe.plan.anchor_counter, probe.plan.anchor_ns);
	assert_int_equal(t->fit_ns, MS);
}

/* A fit is used for longer and longer, up to a limit. */
TEST_WITH(later_fits_go_back_to_the_one_before, setup, teardown)
{
	uint64_t fit_ns = MS;

	probe.plan.anchor_counter = arch_counter_read();
	probe.plan.anchor_ns = kernel_ns(CLOCK_MONOTONIC);
	let_ticks_pass();
	clock_refit(t);
	for (unsigned i = 0; i < 10; i++) {
		uint64_t counter = t->base_counter;
		uint64_t ns = t->base_ns;

		assert_int_equal(t->fit_ns, fit_ns);
		let_ticks_pass();
		check_fit(counter, ns);
		if (fit_ns < 100 * MS)
			fit_ns *= 2;
	}
	assert_int_equal(t->fit_ns, 128 * MS);
}

/*
 * A pair of readings that gives no scale is not used: the former scale stays, or there is still
 * none.
 */
static void a_pair_that_says_nothing_is_not_taken(uint64_t counter, uint64_t ns)
{
	for (unsigned i = 0; i < 2; i++) {
		t->mult = i ? 4711 : 0;
		t->fit_ns = MS;
		t->base_counter = counter;
		t->base_ns = ns;
		clock_refit(t);
		assert_int_equal(t->mult, i ? 4711 : 0);
		assert_int_equal(t->refit_ticks, i ? (2 * MS << 32) / 4711 : 0);
		assert_in_range(t->base_ns, 1, kernel_ns(CLOCK_MONOTONIC));
	}
}

TEST_WITH(a_baseline_must_go_forward_and_not_be_too_long, setup, teardown)
{
	uint64_t counter = arch_counter_read();
	uint64_t ns = kernel_ns(CLOCK_MONOTONIC);

	let_ticks_pass();
	a_pair_that_says_nothing_is_not_taken(counter + (1ULL << 50), ns);
	a_pair_that_says_nothing_is_not_taken(counter, ns + 1000 * S);
	/* After 2^32 ns a fit is too old. */
	pair_pass(5 * S);
	a_pair_that_says_nothing_is_not_taken(counter, ns);
	t->mult = 4711;
	t->base_counter = counter;
	t->base_ns = ns + 4 * S;
	clock_refit(t);
	assert_int_not_equal(t->mult, 4711);
}

TEST_WITH(a_reading_is_the_base_and_what_has_passed, setup, teardown)
{
	uint64_t ns;

	t->base_counter = arch_counter_read() - 1000;
	t->base_ns = 5 * S;
	t->mult = 1ULL << 32;
	t->refit_ticks = UINT64_MAX;
	ns = hot_clock(t);
	assert_in_range(ns, 5 * S + 1000, 5 * S + 1000 * S);
	assert_int_equal(t->last_ns, ns);
	t->mult = 0;
	assert_int_equal(hot_clock(t), ns);
	assert_true(fast_clock(t, &ns));
	assert_int_equal(ns, t->last_ns);
	t->last_ns = 0;
	assert_true(fast_clock(t, &ns));
	assert_int_equal(ns, 5 * S);
	assert_int_equal(t->last_ns, 0);
	/* When the fit is too old, a new one is made. */
	t->refit_ticks = 0;
	assert_false(fast_clock(t, &ns));
	assert_true(hot_clock(t) > t->base_ns - 1);
	assert_int_not_equal(t->base_ns, 5 * S);
}
