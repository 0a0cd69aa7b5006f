/*
 * Plans and the process: its settings under a first plan and under later ones, the parts that an
 * addition joins, plans that are refused, and the memory of plans that are no longer needed.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libmcount/plan/live_plan.h"
#include "libmcount/plan/plans.h"
#include "libmcount/system/module_lock.h"
#include "tests/unit/lib/probe/pair.h"
#include "tests/unit/lib/unit.h"
#include "utils/base/compiler.h"
#include "utils/format/probe/plan.h"

static struct pair pair;
static struct plan first; /* the settings of the first plan of each test */

static int setup(void **state)
{
	pair_init(&pair);
	pair_open(&pair);
	first = probe.plan;
	first.flags |= PLAN_SELECTIVE;
	return 0;
}

static int teardown(void **state)
{
	plans_drop();
	pair_stop(&pair);
	pair_close(&pair);
	atomic_store(&probe_threads, NULL);
	return 0;
}

static struct plan_view view_of(const struct plan *settings)
{
	struct plan_view view = { 0 };

	if (settings)
		view.lists[PLAN_SETTINGS] = plan_list(PLAN_SETTINGS, settings, 1);
	return view;
}

static int install(int (*how)(int fd), const struct plan_view *view)
{
	uint64_t len = plan_image_bytes(view);
	void *image = malloc(len);
	int fd = memfd_create("plan", MFD_CLOEXEC);
	int ret;

	assert_non_null(image);
	plan_image_put(view, image);
	assert_int_equal(write(fd, image, len), len);
	free(image);
	ret = how(fd);
	close(fd);
	return ret;
}

static int begin_by(struct plan settings)
{
	struct plan_view view = view_of(&settings);

	return install(plans_begin, &view);
}

static int replace_by(struct plan settings)
{
	struct plan_view view = view_of(&settings);

	return install(plans_replace, &view);
}

/*
 * Only the first plan calls dlsym(3), for which another thread may hold a lock later. This test is
 * the first one, since functions that were found are kept.
 */
TEST_WITH(later_plans_find_no_functions, setup, teardown)
{
	const struct plan_call_site call = { .load_bias = 8, .reloc = PLAN_NO_RELOC };
	struct plan_view view = view_of(NULL);
	unsigned dlsyms;

	view.lists[PLAN_CALLS] = plan_list(PLAN_CALLS, &call, 1);
	assert_int_equal(begin_by(first), 0);
	dlsyms = pair_dlsyms();
	assert_int_equal(install(plans_extend, &view), 0);
	/* This plan sets signal handlers. */
	assert_int_equal(replace_by(first), 0);
	assert_int_equal(pair_dlsyms(), dlsyms);
}

TEST_WITH(the_first_plan_sets_the_process_up, setup, teardown)
{
	static const struct {
		uint32_t flags;
		bool is_on, tracing, plain, skips, follows_stacks;
	} cases[] = {
		{ 0, true, true, true, false, false },
		{ PLAN_TRACE_OFF, false, false, false, false, false },
		{ PLAN_SELECTIVE, true, true, false, true, false },
		{ PLAN_SELECTIVE | PLAN_TRACE_OFF, false, true, false, true, false },
		{ PLAN_SELECTIVE | PLAN_ESTIMATE, true, true, false, false, false },
		{ PLAN_STACKS, true, true, true, false, true },
		{ PLAN_SELECTIVE | PLAN_STACKS, true, true, false, true, true },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		first.flags = cases[i].flags;
		first.depth = 3 + i;
		assert_int_equal(begin_by(first), 0);
		assert_int_equal(probe.is_on, cases[i].is_on);
		assert_int_equal(probe.tracing, cases[i].tracing);
		assert_int_equal(probe.plain, cases[i].plain);
		assert_int_equal(probe_skips, cases[i].skips);
		assert_int_equal(probe.follows_stacks, cases[i].follows_stacks);
		assert_memory_equal(&probe.plan, &first, sizeof(first));
		assert_memory_equal(&probe.live->settings, &first, sizeof(first));
		plans_drop();
		assert_null(probe.live);
	}
}

/* Recording is switched if --trace=off has changed, or if a trigger is to be undone. */
TEST_WITH(a_later_plan_turns_the_process, setup, teardown)
{
	static const struct {
		uint32_t flags, later_flags;
		uint32_t on_generation;
		bool was_on, is_on, is_finished, tracing;
	} cases[] = {
		{ PLAN_SELECTIVE, PLAN_SELECTIVE, 0, true, true, false, true },
		{ PLAN_SELECTIVE, PLAN_SELECTIVE, 0, false, false, false, true },
		{ PLAN_SELECTIVE, PLAN_SELECTIVE, 5, false, false, false, true },
		{ PLAN_SELECTIVE, PLAN_SELECTIVE, 6, false, true, false, true },
		{ PLAN_SELECTIVE, PLAN_TRACE_OFF, 0, true, false, false, true },
		{ PLAN_SELECTIVE | PLAN_TRACE_OFF, PLAN_SELECTIVE, 0, false, true, false, true },
		{ PLAN_SELECTIVE | PLAN_TRACE_OFF, PLAN_TRACE_OFF, 0, true, true, false, true },
		{ PLAN_SELECTIVE | PLAN_TRACE_OFF, PLAN_TRACE_OFF, 6, true, false, false, true },
		{ PLAN_TRACE_OFF, 0, 0, false, true, false, true },
		{ PLAN_TRACE_OFF, PLAN_TRACE_OFF, 0, false, false, false, true },
		{ PLAN_TRACE_OFF, 0, 0, false, true, true, false },
		{ 0, 0, 0, true, true, false, true },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct plan later = first;

		first.flags = cases[i].flags;
		first.generation = 5;
		assert_int_equal(begin_by(first), 0);
		probe.is_on = cases[i].was_on;
		probe.is_finished = cases[i].is_finished;
		later.flags = cases[i].later_flags;
		later.generation = 7 + i;
		later.on_generation = cases[i].on_generation;
		assert_int_equal(replace_by(later), 0);
		assert_int_equal(probe.is_on, cases[i].is_on);
		assert_int_equal(probe.tracing, cases[i].tracing);
		assert_false(probe.plain);
		assert_true(probe_skips);
		assert_int_equal(probe.plan.generation, 7 + i);
		assert_int_equal(probe.plan.flags, PLAN_SELECTIVE | later.flags);
		probe.is_finished = false;
		plans_drop();
	}
}

TEST_WITH(some_flags_stay_as_the_first_plan_has_them, setup, teardown)
{
	struct plan later;

	first.flags = PLAN_SELECTIVE | PLAN_STACKS | PLAN_ESTIMATE | PLAN_OPT_IN_CALLER;
	assert_int_equal(begin_by(first), 0);
	later = first;
	later.flags = PLAN_SELECTIVE | PLAN_ESTIMATE | PLAN_OPT_IN_FILTER;
	assert_int_equal(replace_by(later), 0);
	assert_int_equal(probe.plan.flags,
			 PLAN_SELECTIVE | PLAN_STACKS | PLAN_ESTIMATE | PLAN_OPT_IN_FILTER);
	assert_false(probe_skips);
	assert_int_equal(probe.live->settings.flags, later.flags);
}

static void expect_refused(struct plan settings)
{
	struct live_plan *before = probe.live;

	assert_int_equal(replace_by(settings), -EINVAL);
	assert_ptr_equal(probe.live, before);
}

TEST_WITH(a_plan_that_fixes_other_things_is_refused, setup, teardown)
{
	struct plan later;

	assert_int_equal(begin_by(first), 0);
	later = first;
	later.clock++;
	expect_refused(later);
	later = first;
	later.clock_id++;
	expect_refused(later);
	later = first;
	later.max_stack++;
	expect_refused(later);
	for (unsigned bit = 0; bit < 32; bit++) {
		later = first;
		later.flags ^= 1U << bit;
		if (PLANS_FIXED_FLAGS & 1U << bit)
			expect_refused(later);
	}
	later = first;
	later.depth++;
	later.threshold_ns++;
	later.size_filter++;
	assert_int_equal(replace_by(later), 0);
	assert_int_equal(probe.live->settings.depth, later.depth);
}

TEST_WITH(without_a_plan_there_is_nothing_to_change, setup, teardown)
{
	struct plan_view more = view_of(NULL);

	plans_drop();
	assert_null(probe.live);
	plans_drop();
	assert_int_equal(replace_by(first), -EINVAL);
	assert_int_equal(install(plans_extend, &more), -EINVAL);
	assert_int_equal(install(plans_begin, &more), -EINVAL);
	assert_null(probe.live);
	assert_int_equal(begin_by(first), 0);
	assert_int_equal(install(plans_extend, &more), 0);
}

static bool is_mapped(const void *memory)
{
	unsigned char in_core;

	return mincore((void *)((uintptr_t)memory & ~4095UL), 1, &in_core) == 0;
}

/* No thread uses the plans of this test. */
TEST_WITH(a_replaced_plan_leaves_the_memory_at_once, setup, teardown)
{
	const struct live_plan *former;
	uint64_t serial;

	assert_int_equal(begin_by(first), 0);
	former = probe.live;
	serial = former->serial;
	assert_int_equal(former->era, serial);
	assert_true(is_mapped(former));
	assert_int_equal(replace_by(first), 0);
	assert_false(is_mapped(former) && former != probe.live);
	assert_int_equal(probe.live->serial, serial + 1);
	assert_int_equal(probe.live->era, serial + 1);
	assert_int_equal(plans_reclaim(), 0);
}

#define FUNC(n) 0x400000 + 16 * (n), 0x400010 + 16 * (n)

/* The parts of the first plan come first, except for functions, which are sorted. */
TEST_WITH(an_addition_joins_the_plan, setup, teardown)
{
	const struct plan_func old_funcs[] = {
		{ FUNC(1), 1, 0 },
		{ FUNC(3), PLAN_NO_RULE, PLAN_NO_CAPTURE },
		{ FUNC(6), 0, 2 },
	};
	const struct plan_func new_funcs[] = {
		{ FUNC(0), 0, PLAN_NO_CAPTURE },
		{ FUNC(2), PLAN_NO_RULE, 0 },
		{ FUNC(7), 0, 0 },
	};
	const struct plan_rule old_rules[] = {
		{ .flags = PLAN_FILTER | PLAN_COND, .nr_conds = 1 },
		{ .flags = PLAN_NOTRACE },
	};
	const struct plan_rule new_rules[] = {
		{ .flags = PLAN_DEPTH | PLAN_COND, .nr_conds = 1, .depth = 2 },
	};
	const struct plan_cond cond = {
		.kind = PLAN_COND_INT, .index = 1, .bytes = 8, .compare = PLAN_NE
	};
	/* The first program has only a result, the second one only an argument. */
	const struct capture_step steps[] = {
		{ .op = CAPTURE_HEAD, .bytes = 0, .index = 1 },
		{ .op = CAPTURE_WORD, .bytes = 8, .index = 0 },
		{ .op = CAPTURE_HEAD, .bytes = 1, .index = 0 },
		{ .op = CAPTURE_WORD, .bytes = 8, .index = 1 },
	};
	static const int rule_of[] = { 2, 1, -1, -1, 0, 2 };
	struct plan_view view = view_of(&first);
	const struct live_plan *plan;
	uint64_t era;

	view.lists[PLAN_FUNCS] = plan_list(PLAN_FUNCS, old_funcs, 3);
	view.lists[PLAN_RULES] = plan_list(PLAN_RULES, old_rules, 2);
	view.lists[PLAN_CONDS] = plan_list(PLAN_CONDS, &cond, 1);
	assert_int_equal(install(plans_begin, &view), -EINVAL); /* there are no steps */
	view.lists[PLAN_STEPS] = plan_list(PLAN_STEPS, steps, 4);
	assert_int_equal(install(plans_begin, &view), 0);
	assert_false(probe.live->has_depths);
	era = probe.live->era;
	view = view_of(NULL);
	view.lists[PLAN_FUNCS] = plan_list(PLAN_FUNCS, new_funcs, 3);
	view.lists[PLAN_RULES] = plan_list(PLAN_RULES, new_rules, 1);
	view.lists[PLAN_CONDS] = plan_list(PLAN_CONDS, &cond, 1);
	view.lists[PLAN_STEPS] = plan_list(PLAN_STEPS, steps, 4);
	assert_int_equal(install(plans_extend, &view), 0);
	plan = probe.live;
	assert_int_equal(plan->era, era);
	assert_int_equal(plan->serial, era + 1);
	assert_true(plan->has_depths);
	assert_int_equal(plan->nr_rules, 3);
	assert_int_equal(plan->nr_conds, 2);
	assert_int_equal(plan->nr_steps, 8);
	assert_int_equal(plan->rules[0].cond, 0);
	assert_int_equal(plan->rules[2].cond, 1);
	assert_int_equal(plan->rules[2].depth, 2);
	assert_memory_equal(&plan->settings, &first, sizeof(first));
	assert_int_equal(plan->nr_funcs, 6);
	for (unsigned i = 0; i < 6; i++) {
		const struct live_func *func = &plan->funcs[i];

		assert_true(i == 0 || func[-1].end <= func->start);
		assert_int_equal(func->end - func->start, 16);
		assert_ptr_equal(func->rule, rule_of[i] < 0 ? NULL : &plan->rules[rule_of[i]]);
	}
	assert_null(plan->funcs[0].result);
	assert_ptr_equal(plan->funcs[1].result, &plan->steps[0]);
	assert_null(plan->funcs[1].args);
	assert_ptr_equal(plan->funcs[2].result, &plan->steps[4]);
	assert_null(plan->funcs[3].result);
	assert_ptr_equal(plan->funcs[4].args, &plan->steps[2]);
	assert_null(plan->funcs[4].result);
	assert_ptr_equal(plan->funcs[5].result, &plan->steps[4]);
}

static int add_patches(const struct plan_view *view)
{
	uint64_t len = plan_image_bytes(view);
	void *image = malloc(len);
	int ret;

	assert_non_null(image);
	plan_image_put(view, image);
	ret = plans_add_patches(image, len);
	free(image);
	return ret;
}

/* A plan with patches has nothing else. No patch is put in while another thread has the lock. */
TEST_WITH(patches_come_alone, setup, teardown)
{
	const struct plan_func func = { FUNC(1), PLAN_NO_RULE, PLAN_NO_CAPTURE };
	struct plan_view view = view_of(&first);

	assert_int_equal(begin_by(first), 0);
	assert_int_equal(add_patches(&view), -EINVAL);
	view = view_of(NULL);
	view.lists[PLAN_FUNCS] = plan_list(PLAN_FUNCS, &func, 1);
	assert_int_equal(add_patches(&view), -EINVAL);
	assert_int_equal(probe.live->nr_funcs, 0);
	view = view_of(NULL);
	assert_int_equal(add_patches(&view), 0);
	assert_true(plans_add_patches("no plan at all", 15) < 0);
	pthread_mutex_lock(&module_lock);
	assert_int_equal(add_patches(&view), -EAGAIN);
	pthread_mutex_unlock(&module_lock);
	/* All locks are free again. */
	assert_int_equal(add_patches(&view), 0);
	assert_int_equal(replace_by(first), 0);
}
