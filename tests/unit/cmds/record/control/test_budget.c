/*
 * Unit tests of cmds/record/control/budget.c: functions that are left out of a recording, so that
 * it stays within its overhead limit.
 */
#include "tests/unit/lib/unit.h"

#include "cmds/record/control/budget.h"
#include "utils/base/compiler.h"

#define MS 1000000ULL

static struct budget twenty_percent(void)
{
	return (struct budget){ .limit = 0.2, .call_ns = 40, .left_ns = 2 };
}

TEST(what_costs_little_is_left_alone)
{
	struct budget b = twenty_percent();
	struct budget_func f = { .calls = 100000, .mean_ns = 10 };
	struct budget_time t = { .cpu_ns = 100 * MS, .calls = f.calls };

	/* The calls cost 4 of 96 ms. */
	assert_true(budget_overhead(&b, &t) < 0.05);
	assert_int_equal(budget_decide(&b, &t, &f, 1), 0);
	assert_false(f.is_chosen);
}

TEST(little_time_decides_nothing)
{
	struct budget b = twenty_percent();
	struct budget_func f = { .calls = 100000, .mean_ns = 10 };
	struct budget_time t = { .cpu_ns = BUDGET_CPU_MIN_NS - 1, .calls = f.calls * 5 };

	assert_true(budget_overhead(&b, &t) > 0.2);
	assert_int_equal(budget_decide(&b, &t, &f, 1), 0);
}

TEST(the_hottest_and_shortest_go_first)
{
	struct budget b = twenty_percent();
	struct budget_func funcs[] = {
		{ .calls = 1000, .mean_ns = 10 },     /* costs little */
		{ .calls = 400000, .mean_ns = 5000 }, /* as often as the next one, but longer */
		{ .calls = 400000, .mean_ns = 10 },
		{ .calls = 900000, .mean_ns = 30 },
	};
	struct budget_time t = { .cpu_ns = 200 * MS, .calls = 1701000 };

	assert_int_equal(budget_decide(&b, &t, funcs, ARRAY_SIZE(funcs)), 2);
	assert_false(funcs[0].is_chosen);
	assert_false(funcs[1].is_chosen);
	assert_true(funcs[2].is_chosen);
	assert_true(funcs[3].is_chosen);

	/*
	 * The same program without the calls of these functions: it is within the limit, with a
	 * reserve.
	 */
	struct budget_time after = { .cpu_ns = 150 * MS, .calls = 401000 };

	assert_true(budget_overhead(&b, &after) < 0.2);
	assert_int_equal(budget_decide(&b, &after, funcs, 2), 0);
}

TEST(what_writers_take_counts)
{
	struct budget b = twenty_percent();
	struct budget_func f = { .calls = 300000, .mean_ns = 10 };
	struct budget_time t = { .cpu_ns = 100 * MS, .calls = f.calls };

	assert_int_equal(budget_decide(&b, &t, &f, 1), 0);
	t.writer_ns = 20 * MS;
	assert_int_equal(budget_decide(&b, &t, &f, 1), 1);
}

TEST(what_the_recorder_does_besides_counts)
{
	struct budget b = twenty_percent();
	struct budget_func f = { .calls = 300000, .mean_ns = 10 };
	struct budget_time t = { .cpu_ns = 100 * MS, .calls = f.calls };

	b.recorder_part = 0.1;
	assert_true(budget_overhead(&b, &t) > 0.2);
	assert_int_equal(budget_decide(&b, &t, &f, 1), 1);

	/* If the recorder alone takes the whole limit, a quarter of the limit is for calls. */
	t.calls = f.calls = 100000;
	f.is_chosen = false;
	b.recorder_part = 0.5;
	assert_true(budget_overhead(&b, &t) > 0.5);
	assert_int_equal(budget_decide(&b, &t, &f, 1), 0);
}

/* Each of a thousand functions takes less than a hundredth of the limit. */
TEST(many_that_matter_little_are_much)
{
	static struct budget_func funcs[1000];
	struct budget b = twenty_percent();
	struct budget_time t = { .cpu_ns = 100 * MS, .calls = 1000 * 1000 };

	for (size_t i = 0; i < ARRAY_SIZE(funcs); i++)
		funcs[i] = (struct budget_func){ .calls = 1000, .mean_ns = 10, .can_go = true };
	assert_true(budget_overhead(&b, &t) > 0.6);
	assert_true(budget_decide(&b, &t, funcs, ARRAY_SIZE(funcs)) > 500);
}

TEST(a_cost_that_is_told_too_large_does_no_harm)
{
	struct budget b = twenty_percent();
	struct budget_func f = { .calls = 1e9, .mean_ns = 10 };
	struct budget_time t = { .cpu_ns = 100 * MS, .calls = f.calls };

	assert_true(budget_overhead(&b, &t) > 1);
	assert_int_equal(budget_decide(&b, &t, &f, 1), 1);
	assert_true(b.left_rate > 0);
}

/*
 * Calls of functions that are left out still cost something. Even if they take the whole limit,
 * some other functions stay recorded.
 */
TEST(what_is_left_out_does_not_take_all_of_the_rest)
{
	struct budget b = twenty_percent();
	struct budget_func f = { .calls = 80000, .mean_ns = 10 };
	struct budget_time t = { .cpu_ns = 100 * MS, .calls = f.calls };

	b.left_rate = 1;
	assert_true(budget_overhead(&b, &t) > 2);
	t.calls = f.calls = 20000;
	assert_int_equal(budget_decide(&b, &t, &f, 1), 0);
}

/*
 * A function that is left out and loses its hooks costs nothing, so no other function is left out
 * for it.
 */
TEST(what_loses_its_hooks_costs_nothing)
{
	for (int can_go = 0; can_go < 2; can_go++) {
		struct budget b = twenty_percent();
		struct budget_func funcs[] = {
			{ .calls = 20000000, .mean_ns = 10, .can_go = can_go },
			{ .calls = 200000, .mean_ns = 100 },
		};
		struct budget_time t = { .cpu_ns = 900 * MS, .calls = 20200000 };

		assert_int_equal(budget_decide(&b, &t, funcs, ARRAY_SIZE(funcs)), can_go ? 1 : 2);
		assert_true(funcs[0].is_chosen && funcs[0].rate > 0);
		assert_int_equal(b.left_rate > 0, !can_go);
	}
}

/*
 * A program with 200 functions, each called about half as often as the one before. Their calls
 * change by up to 20 % from one interval to the next. The choice of functions is made once or
 * twice, and stays.
 */
TEST(it_settles)
{
	enum {
		FUNCS = 200,
		INTERVALS = 200
	};
	struct budget b = twenty_percent();
	bool is_out[FUNCS] = { false };
	uint32_t random = 12345;
	unsigned decisions = 0, late = 0;

	for (unsigned n = 0; n < INTERVALS; n++) {
		struct budget_func funcs[FUNCS];
		struct budget_time t = { .cpu_ns = 100 * MS };
		unsigned from[FUNCS], nr = 0;

		for (unsigned i = 0; i < FUNCS; i++) {
			double calls = 2e6 / (i + 1) / (i + 1);

			random = random * 1664525 + 1013904223;
			calls *= 0.8 + 0.4 * (random >> 8) / (1U << 24);
			t.cpu_ns += calls * (is_out[i] ? b.left_ns : b.call_ns);
			if (is_out[i])
				continue;
			funcs[nr] = (struct budget_func){ .calls = calls, .mean_ns = 20 + i % 7 };
			from[nr++] = i;
			t.calls += calls;
		}
		if (n > 2)
			assert_true(budget_overhead(&b, &t) < 0.2);
		if (!budget_decide(&b, &t, funcs, nr))
			continue;
		decisions++;
		late += n > 1;
		for (unsigned i = 0; i < nr; i++)
			is_out[from[i]] |= funcs[i].is_chosen;
	}
	assert_in_range(decisions, 1, 2);
	assert_int_equal(late, 0);
	assert_true(is_out[0]);
	assert_false(is_out[FUNCS - 1]);
}

/* Exact numbers. A call costs 128 ns, and the program itself needs OWN ns. */
#define OWN  (1ULL << 28)
#define CALL 128ULL
#define MANY (1ULL << 20)

TEST(costs_in_numbers)
{
	static const struct {
		struct budget budget;
		struct budget_time time;
		double own_ns;
		double overhead;
	} rows[] = {
		{ { .call_ns = 128, .left_ns = 4 }, { 640, 0, 1 }, 512, 0.25 },
		{ { .call_ns = 128, .left_ns = 4 }, { 640, 64, 1 }, 512, 0.375 },
		{ { .call_ns = 128, .left_ns = 4, .left_rate = 0.25 }, { 1152, 0, 1 }, 512, 1.25 },
		{ { .call_ns = 128, .left_ns = 4, .recorder_part = 0.125 },
		  { 640, 0, 1 },
		  512,
		  0.375 },
		/* The program's own time is at least a sixteenth of all. */
		{ { .call_ns = 128 }, { 2048, 0, 15 }, 128, 15 },
		{ { .call_ns = 128 }, { 2048, 0, 16 }, 128, 16 },
		{ { .call_ns = 128 }, { 2048, 0, 32 }, 128, 32 },
		{ { .call_ns = 128, .recorder_part = 0.125 }, { 1024, 0, 0 }, 1024, 0.125 },
		{ { .call_ns = 128, .recorder_part = 0.125 }, { 0, 7, 0 }, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (budget_own_ns(&rows[i].budget, &rows[i].time) != rows[i].own_ns)
			fail_msg("row %zu: its own time", i);
		if (budget_overhead(&rows[i].budget, &rows[i].time) != rows[i].overhead)
			fail_msg("row %zu: the overhead", i);
	}
}

/*
 * The limit is half of the program's own time. There are eight functions with an eighth of MANY
 * calls each. Functions are left out until the other calls cost at most 70 % of the room: the part
 * of the limit that is left for recorded calls.
 */
TEST(how_many_are_left_out)
{
	static const struct {
		uint64_t calls;
		uint64_t writer_ns;
		double recorder_part;
		double left_part;
		bool can_go;
		size_t nr_chosen;
		double left_rate;
	} rows[] = {
		{ MANY, 0, 0, 0, true, 0, 0 },
		{ MANY + 1, 0, 0, 0, true, 3, 0 },
		{ MANY, MANY * CALL, 0, 0, true, 6, 0 },
		{ MANY, 0, 0.25, 0, true, 6, 0 },
		/* A quarter of the limit is always for recorded calls. */
		{ MANY, 0, 0.4375, 0, true, 7, 0 },
		{ MANY / 4, 0, 0.4375, 0, true, 0, 0 },
		{ MANY / 4 + 1, 0, 0.4375, 0, true, 1, 0 },
		/* Functions that were left out before take half of the room. */
		{ MANY, 0, 0, 0.25, true, 6, 0.25 / 16 },
		{ MANY / 2, 0, 0, 0.25, true, 0, 0.25 / 16 },
		{ MANY / 2 + 1, 0, 0, 0.25, true, 2, 0.25 / 16 },
		/*
		 * If the hooks stay in the functions, each function that is left out costs a
		 * 128th of the program's own time.
		 */
		{ MANY, 0, 0, 0.25, false, 6, (0.25 + 6.0 / 128) / 16 },
		{ MANY + 1, 0, 0, 0, false, 3, 3.0 / 128 / 16 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct budget b = {
			.limit = 0.5,
			.call_ns = CALL,
			.left_ns = 16,
			.recorder_part = rows[i].recorder_part,
			.left_rate = rows[i].left_part / 16,
		};
		const struct budget_time t = {
			.cpu_ns = OWN + OWN / 4 * (rows[i].left_part > 0) + rows[i].calls * CALL,
			.writer_ns = rows[i].writer_ns,
			.calls = (double)rows[i].calls,
		};
		struct budget_func funcs[8];

		for (size_t k = 0; k < ARRAY_SIZE(funcs); k++)
			funcs[k] = (struct budget_func){ .calls = MANY / 8,
							 .can_go = rows[i].can_go };
		if (budget_decide(&b, &t, funcs, ARRAY_SIZE(funcs)) != rows[i].nr_chosen)
			fail_msg("row %zu: the number", i);
		/* Functions that are alike are chosen in their order. */
		for (size_t k = 0; k < ARRAY_SIZE(funcs); k++) {
			assert_int_equal(funcs[k].is_chosen, k < rows[i].nr_chosen);
			assert_true(funcs[k].rate ==
				    (k < rows[i].nr_chosen ? (double)(MANY / 8) / OWN : 0));
		}
		if (b.left_rate != rows[i].left_rate)
			fail_msg("row %zu: the rate", i);
	}
}

/* A function counts from 0.1 % of the limit on: here these are 1048.576 calls. */
TEST(which_are_left_out)
{
	static const struct {
		struct budget_func funcs[3];
		bool are_chosen[3];
	} rows[] = {
		{ { { .calls = 1048 }, { .calls = 1049 }, { .calls = 0 } },
		  { false, true, false } },
		/* Many calls that are long weigh less than fewer short ones. */
		{ { { .calls = 600000, .mean_ns = 128 }, { .calls = 400000 }, { .calls = 400000 } },
		  { false, true, false } },
		{ { { .calls = 600000, .mean_ns = 32 }, { .calls = 400000 }, { .calls = 400000 } },
		  { true, false, false } },
		/* A function that is left out already is not chosen again. */
		{ { { .calls = 400000, .is_chosen = true }, { .calls = 500 }, { .calls = 400000 } },
		  { true, false, true } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct budget b = { .limit = 0.5, .call_ns = CALL, .left_ns = 16 };
		const struct budget_time t = {
			.cpu_ns = OWN + 1100000 * CALL,
			.calls = 1100000,
		};
		struct budget_func funcs[3];
		size_t nr = 0;

		memcpy(funcs, rows[i].funcs, sizeof(funcs));
		for (size_t k = 0; k < ARRAY_SIZE(funcs); k++) {
			funcs[k].can_go = true;
			nr += rows[i].are_chosen[k] && !rows[i].funcs[k].is_chosen;
		}
		assert_int_equal(budget_decide(&b, &t, funcs, ARRAY_SIZE(funcs)), nr);
		for (size_t k = 0; k < ARRAY_SIZE(funcs); k++) {
			if (funcs[k].is_chosen != rows[i].are_chosen[k])
				fail_msg("row %zu, function %zu", i, k);
		}
	}
}
