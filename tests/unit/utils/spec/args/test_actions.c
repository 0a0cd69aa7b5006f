/* Unit tests of utils/spec/args/actions.c. */
#include "tests/unit/lib/unit.h"

#include <string.h>

#include "utils/base/compiler.h"
#include "utils/spec/args/actions.h"

TEST(each_word_finds_its_action)
{
	for (const struct action *action = actions; action->word; action++) {
		assert_ptr_equal(action_find(action->word, strlen(action->word)), action);
		/* Each action is one bit. */
		assert_true(action->flag && !(action->flag & (action->flag - 1)));
	}
}

TEST(words_are_compared_whole)
{
	assert_int_equal(action_find("TRACE_on", 8)->flag, TRIGGER_TRACE_ON);
	assert_int_equal(action_find("trace_on", 5)->flag, TRIGGER_TRACE);
	assert_null(action_find("trace_on", 7));
	assert_null(action_find("tracer", 6));
	assert_null(action_find("", 0));
	assert_null(action_find("if", 2));
}

TEST(names_that_clear_accepts)
{
	for (const struct action_group *group = action_groups; group->name; group++)
		assert_int_equal(action_group_flags(group->name, strlen(group->name)),
				 group->flags);
	assert_int_equal(action_group_flags("FPARG+time", 5), TRIGGER_ARG);
	assert_int_equal(action_group_flags("trace", 5),
			 TRIGGER_TRACE | TRIGGER_TRACE_ON | TRIGGER_TRACE_OFF);
	assert_int_equal(action_group_flags("trace_on", 8), 0);
	assert_int_equal(action_group_flags("clear", 5), 0);
	assert_int_equal(action_group_flags("", 0), 0);
}

TEST(items)
{
	static const struct {
		const char *item;
		bool is_action;
	} cases[] = {
		{ "depth=2", true },	{ "Depth", true },	  { "clear=arg", true },
		{ "if:arg1==2", true }, { "IF:arg1", true },	  { "if", false },
		{ "depths=2", false },	{ "libdepth.so", false }, { "arg1", false },
		{ "", false },		{ "=depth", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (action_is_item(cases[i].item) != cases[i].is_action)
			fail_msg("'%s'", cases[i].item);
	}
}

TEST(values)
{
	assert_true(action_needs_value(action_find("depth", 5)));
	assert_false(action_needs_value(action_find("filter", 6)));
	assert_false(action_needs_value(action_find("clear", 5)));
}
