/* The settings in the plan of an image: limits, filters that opt in, recording that is off. */
#include "tests/unit/lib/unit.h"

#include "cmds/record/plan/image_plan.h"

#define OPT_INS (PLAN_OPT_IN_FILTER | PLAN_OPT_IN_CALLER | PLAN_OPT_IN_LOCATION)

static struct plan chosen(const struct record_settings *settings, bool is_on, uint32_t flags)
{
	struct plan plan = { .flags = flags };

	image_plan_choose(&plan, settings, is_on);
	return plan;
}

TEST(limits)
{
	static const struct {
		unsigned depth;
		unsigned max_stack;
		bool tells_depth;
		unsigned expected;
	} rows[] = {
		{ 5, 1024, false, 5 },	     { 5, 1024, true, 5 },
		{ 1023, 1024, true, 1023 },  { 1024, 1024, true, UINT16_MAX },
		{ 1024, 1024, false, 1024 }, { 1025, 1024, true, UINT16_MAX },
	};
	static const struct {
		uint64_t size;
		uint32_t expected;
	} sizes[] = {
		{ 0, 0 },
		{ 77, 77 },
		{ UINT32_MAX, UINT32_MAX },
		{ (uint64_t)UINT32_MAX + 1, UINT32_MAX },
	};
	struct filters filters = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct record_settings settings = {
			.filters = &filters,
			.depth = rows[i].depth,
			.max_stack = rows[i].max_stack,
			.tells_depth = rows[i].tells_depth,
			.threshold_ns = 100 + i,
		};

		assert_int_equal(chosen(&settings, true, 0).depth, rows[i].expected);
		assert_int_equal(chosen(&settings, true, 0).threshold_ns, 100 + i);
	}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const struct record_settings settings = {
			.filters = &filters,
			.size_filter = sizes[i].size,
		};

		assert_int_equal(chosen(&settings, true, 0).size_filter, sizes[i].expected);
	}
}

/* Flags that the filters do not decide stay. While recording is off, no call is opted in. */
TEST(filters_that_opt_in)
{
	static const struct {
		enum spec_option option;
		const char *text;
		uint32_t flags;
	} rows[] = {
		{ SPEC_FILTER, "f", PLAN_OPT_IN_FILTER },
		{ SPEC_FILTER, "!f", 0 },
		{ SPEC_CALLER, "f", PLAN_OPT_IN_CALLER },
		{ SPEC_LOCATION, "a.c", PLAN_OPT_IN_LOCATION },
		{ SPEC_TRIGGER, "f@depth=2", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct filters filters = { 0 };
		struct record_settings settings = { .filters = &filters, .trace_on = true };
		struct uft_err err = { 0 };

		assert_int_equal(
			filters_add(&filters, rows[i].option, MATCH_REGEX, rows[i].text, &err), 0);
		assert_int_equal(filters_prepare(&filters, &err), 0);
		for (int has_others = 0; has_others <= 1; has_others++) {
			uint32_t others = has_others ? PLAN_STACKS : 0;
			uint32_t before = others | (has_others ? OPT_INS | PLAN_TRACE_OFF : 0);

			settings.trace_on = true;
			assert_int_equal(chosen(&settings, true, before).flags,
					 others | rows[i].flags);
			assert_int_equal(chosen(&settings, false, before).flags,
					 others | PLAN_OPT_IN_FILTER);
			settings.trace_on = false;
			assert_int_equal(chosen(&settings, true, before).flags,
					 others | rows[i].flags | PLAN_TRACE_OFF);
		}
		filters_deinit(&filters);
	}
}
