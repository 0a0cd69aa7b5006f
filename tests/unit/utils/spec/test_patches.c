/* Unit tests of utils/spec/patches.c. */
#include "tests/unit/lib/unit.h"

#include "utils/base/compiler.h"
#include "utils/spec/patches.h"

static struct patch_rules parse(const char *text, enum pattern_match match)
{
	struct patch_rules rules = { 0 };
	struct uft_err err = { 0 };

	if (patch_rules_parse(text, match, &rules, &err) < 0)
		fail_msg("'%s': %s", text, err.text);
	return rules;
}

TEST(the_last_one_counts)
{
	static const struct {
		const char *text;
		enum pattern_match match;
		const char *name;
		const char *module;
		enum patch_choice expect;
	} cases[] = {
		{ "f", MATCH_REGEX, "f", NULL, PATCH_IN },
		{ "f", MATCH_REGEX, "ff", NULL, PATCH_UNSAID },
		{ "f.", MATCH_REGEX, "ff", NULL, PATCH_IN },
		{ "f*", MATCH_GLOB, "ff", NULL, PATCH_IN },
		{ "f*", MATCH_SIMPLE, "ff", NULL, PATCH_UNSAID },
		{ ".;!f", MATCH_REGEX, "f", NULL, PATCH_OUT },
		{ "!f;.", MATCH_REGEX, "f", NULL, PATCH_IN },
		{ "!f;;g", MATCH_REGEX, "f", NULL, PATCH_OUT },
		{ ".", MATCH_REGEX, NULL, NULL, PATCH_IN },
		{ "f", MATCH_REGEX, NULL, NULL, PATCH_UNSAID },
		{ "f", MATCH_REGEX, "f", "libx.so.1", PATCH_UNSAID },
		{ "f@libx", MATCH_REGEX, "f", "libx.so.1", PATCH_IN },
		{ "f@libx", MATCH_REGEX, "f", "liby.so.1", PATCH_UNSAID },
		{ "f@libx", MATCH_REGEX, "f", NULL, PATCH_UNSAID },
		{ "f@prog", MATCH_REGEX, "f", NULL, PATCH_IN },
		{ "f;!.@libx", MATCH_REGEX, "f", "libx.so", PATCH_OUT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct patch_rules rules = parse(cases[i].text, cases[i].match);
		const struct patch_subject subject = {
			.name = cases[i].name,
			.module = cases[i].module ? cases[i].module : "program",
			.is_program = !cases[i].module,
		};

		if (patch_rules_choose(&rules, &subject) != cases[i].expect)
			fail_msg("%zu: '%s'", i, cases[i].text);
		patch_rules_deinit(&rules);
	}
}

TEST(other_names)
{
	struct patch_rules rules = parse("f;!f.cold", MATCH_SIMPLE);
	struct patch_subject subject = {
		.name = "f.part.0", .others = "f\0f.x\0", .module = "program", .is_program = true
	};

	assert_int_equal(patch_rules_choose(&rules, &subject), PATCH_IN);
	subject.others = "f\0f.cold\0";
	assert_int_equal(patch_rules_choose(&rules, &subject), PATCH_OUT);
	patch_rules_deinit(&rules);
}

TEST(matches_are_noted)
{
	struct patch_rules rules = parse("f;!f;g", MATCH_REGEX);
	struct patch_subject subject = { .name = "f", .module = "program", .is_program = true };

	patch_rules_choose(&rules, &subject);
	assert_true(rules.rules[0].has_name && !rules.rules[0].has_match);
	/*
	 * The function has a compiler's hook, as the first rule wants. Such a hook cannot be
	 * removed.
	 */
	subject.has_hook = true;
	patch_rules_choose(&rules, &subject);
	assert_true(rules.rules[0].has_match && !rules.rules[1].has_match);
	subject.can_be = true;
	patch_rules_choose(&rules, &subject);
	assert_true(rules.rules[1].has_match);
	assert_false(rules.rules[2].has_name);
	patch_rules_deinit(&rules);
}

TEST(what_rules_are_about)
{
	struct patch_rules rules = parse("f@libx;!g", MATCH_REGEX);

	assert_string_equal(rules.rules[0].text, "f@libx");
	assert_true(rules.rules[1].takes_out);
	assert_string_equal(rules.rules[1].text, "g");
	assert_true(patch_rules_have(&rules, false));
	assert_true(patch_rules_have(&rules, true));
	assert_true(patch_rules_are_about(&rules, "libx.so", false, false));
	assert_false(patch_rules_are_about(&rules, "libx.so", false, true));
	assert_true(patch_rules_are_about(&rules, "prog", true, true));
	assert_false(patch_rules_are_about(&rules, "prog", true, false));
	patch_rules_deinit(&rules);
}

TEST(refused)
{
	static const char *const cases[][2] = {
		{ "@x", "'@x': column 1: expected the name of a function" },
		{ "a;!", "'a;!': column 4: expected the name of a function" },
		{ "a;b@", "'a;b@': column 5: expected the name of a file" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct patch_rules rules = { 0 };
		struct uft_err err = { 0 };

		assert_int_equal(patch_rules_parse(cases[i][0], MATCH_REGEX, &rules, &err),
				 -ERR_USAGE);
		assert_string_equal(err.text, cases[i][1]);
		assert_int_equal(rules.nr, 0);
	}
}

static enum patch_choice choice_of(struct patch_rules *rules, const char *name)
{
	const struct patch_subject subject = { .name = name, .module = "p", .is_program = true };

	return patch_rules_choose(rules, &subject);
}

TEST(changes)
{
	struct patch_rules rules = parse("f;!g", MATCH_REGEX);
	struct patch_rules_change change;
	struct patch_rules more = parse("!f;h", MATCH_REGEX);

	assert_int_equal(patch_rules_add(&rules, &more, &change), 0);
	assert_int_equal(more.nr, 0);
	patch_rules_keep(&rules, &change);
	assert_int_equal(rules.nr, 4);
	assert_int_equal(choice_of(&rules, "f"), PATCH_OUT);
	assert_int_equal(choice_of(&rules, "h"), PATCH_IN);
	/* The default depends on the first rules. */
	assert_int_equal(rules.nr_first, 2);

	/* The change is undone: rules that it replaced are there again. */
	unsigned generation = rules.generation;

	more = parse("f;!h;i", MATCH_REGEX);
	assert_int_equal(patch_rules_add(&rules, &more, &change), 0);
	assert_int_equal(choice_of(&rules, "f"), PATCH_IN);
	assert_int_equal(choice_of(&rules, "h"), PATCH_OUT);
	patch_rules_undo(&rules, &change);
	assert_int_equal(choice_of(&rules, "f"), PATCH_OUT);
	assert_int_equal(choice_of(&rules, "h"), PATCH_IN);
	assert_int_equal(choice_of(&rules, "i"), PATCH_UNSAID);
	assert_true(rules.generation != generation);

	/* With a generation, only later rules count. */
	const struct patch_subject f = { .name = "f", .module = "p", .is_program = true };

	assert_int_equal(patch_rules_choose_since(&rules, &f, rules.generation), PATCH_UNSAID);
	assert_int_equal(patch_rules_choose_since(&rules, &f, 0), PATCH_OUT);
	generation = rules.generation;
	more = parse("f", MATCH_REGEX);
	assert_int_equal(patch_rules_add(&rules, &more, &change), 0);
	assert_int_equal(patch_rules_choose_since(&rules, &f, generation), PATCH_IN);
	patch_rules_undo(&rules, &change);
	assert_int_equal(patch_rules_choose_since(&rules, &f, generation), PATCH_UNSAID);

	/* The rules may be switched any number of times; their number does not grow. */
	for (int i = 0; i < 100; i++) {
		more = parse(i % 2 ? "f;!h" : "!f;h", MATCH_REGEX);
		assert_int_equal(patch_rules_add(&rules, &more, &change), 0);
		patch_rules_keep(&rules, &change);
		assert_int_equal(choice_of(&rules, "f"), i % 2 ? PATCH_IN : PATCH_OUT);
	}
	assert_int_equal(rules.nr, 4);
	patch_rules_deinit(&rules);
}
