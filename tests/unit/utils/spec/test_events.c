/* Unit tests of utils/spec/events.c. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/spec/events.h"

static struct event_rules parse(const char *text, enum pattern_match match)
{
	struct event_rules rules = { 0 };
	struct uft_err err = { 0 };

	if (event_rules_parse(text, match, &rules, &err) < 0)
		fail_msg("'%s': %s", text, err.text);
	return rules;
}

TEST(test_names)
{
	static const struct {
		const char *text;
		enum pattern_match match;
		const char *name;
		bool expect;
	} cases[] = {
		{ "app:start", MATCH_REGEX, "app:start", true },
		{ "app:start", MATCH_REGEX, "app:start2", false },
		{ "start", MATCH_REGEX, "app:start", false },
		{ "start$", MATCH_REGEX, "app:start", true },
		{ "^app:", MATCH_REGEX, "app:start", true },
		{ "app:s.*", MATCH_REGEX, "app:start", true },
		{ "APP:start", MATCH_REGEX, "app:start", false },
		{ "app:*", MATCH_GLOB, "app:start", true },
		{ "app:*", MATCH_GLOB, "map:start", false },
		{ "app:.*", MATCH_SIMPLE, "app:start", false },
		{ "no:one;;app:start;", MATCH_REGEX, "app:start", true },
		{ "app:start@kernel", MATCH_REGEX, "app:start", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct event_rules rules = parse(cases[i].text, cases[i].match);

		if (event_rules_match(&rules, EVENT_OF_PROGRAM, cases[i].name) != cases[i].expect)
			fail_msg("'%s' and '%s'", cases[i].text, cases[i].name);
		event_rules_deinit(&rules);
	}
}

TEST(test_origin)
{
	struct event_rules rules = parse("sched:.*@kernel;app:.*;irq:x@K", MATCH_REGEX);

	assert_int_equal(rules.nr, 3);
	assert_string_equal(rules.rules[0].text, "sched:.*@kernel");
	assert_true(event_rules_match(&rules, EVENT_OF_KERNEL, "sched:sched_switch"));
	assert_true(event_rules_match(&rules, EVENT_OF_KERNEL, "irq:x"));
	assert_false(event_rules_match(&rules, EVENT_OF_PROGRAM, "sched:sched_switch"));
	assert_false(event_rules_match(&rules, EVENT_OF_KERNEL, "app:start"));
	/* For showing an event, its name decides, not its origin. */
	assert_true(event_rules_show(&rules, EVENT_OF_KERNEL, "app:start"));
	assert_true(event_rules_show(&rules, EVENT_OF_PROGRAM, "app:start"));
	assert_false(event_rules_show(&rules, EVENT_OF_PROGRAM, "sched:sched_switch"));
	assert_true(event_rules_want(&rules, EVENT_OF_KERNEL));
	event_rules_deinit(&rules);
	rules = parse("app:.*", MATCH_REGEX);
	assert_false(event_rules_want(&rules, EVENT_OF_KERNEL));
	event_rules_deinit(&rules);
	rules = parse("", MATCH_REGEX);
	assert_int_equal(rules.nr, 0);
	event_rules_deinit(&rules);
}

TEST(test_wrong)
{
	static const struct {
		const char *text;
		const char *expect;
	} cases[] = {
		{ "app:start@user", "column 11: expected nothing or 'kernel'" },
		{ "app:start@", "column 11: expected nothing or 'kernel'" },
		{ "a:b;@kernel", "column 5: expected PROVIDER:EVENT" },
		{ "a:b;c:(", "column 5: " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct event_rules rules = { 0 };
		struct uft_err err = { 0 };

		assert_int_equal(event_rules_parse(cases[i].text, MATCH_REGEX, &rules, &err),
				 -ERR_USAGE);
		if (!strstr(err.text, cases[i].expect))
			fail_msg("'%s': %s", cases[i].text, err.text);
	}
}
