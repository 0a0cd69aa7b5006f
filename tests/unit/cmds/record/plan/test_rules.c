/*
 * Triggers as rules of a plan: the parts of a trigger that count, and the sharing of equal rules.
 */
#include "tests/unit/lib/unit.h"

#include "cmds/record/plan/rules.h"
#include "utils/spec/regex/regex_plan.h"

struct made {
	struct strbuf rules;
	struct strbuf conds;
	struct rule_set set;
};

static int setup(void **state)
{
	struct made *made = calloc(1, sizeof(*made));

	assert_non_null(made);
	made->set.rules = &made->rules;
	made->set.conds = &made->conds;
	*state = made;
	return 0;
}

static int teardown(void **state)
{
	struct made *made = *state;

	rule_set_deinit(&made->set);
	strbuf_deinit(&made->rules);
	strbuf_deinit(&made->conds);
	free(made);
	return 0;
}

static const struct plan_rule *rule_at(const struct made *made, uint32_t index)
{
	assert_true(index < made->rules.len / sizeof(struct plan_rule));
	return (const struct plan_rule *)made->rules.data + index;
}

static const struct plan_cond *conds_of(const struct made *made, uint32_t index)
{
	return (const struct plan_cond *)made->conds.data + rule_at(made, index)->cond;
}

TEST_WITH(each_flag_is_another, setup, teardown)
{
	static const struct {
		uint32_t trigger;
		uint32_t rule;
	} flags[] = {
		{ TRIGGER_FILTER, PLAN_FILTER },
		{ TRIGGER_NOTRACE, PLAN_NOTRACE },
		{ TRIGGER_DEPTH, PLAN_DEPTH },
		{ TRIGGER_TIME, PLAN_TIME },
		{ TRIGGER_SIZE, PLAN_SIZE },
		{ TRIGGER_CALLER, PLAN_CALLER },
		{ TRIGGER_TRACE, PLAN_TRACE },
		{ TRIGGER_TRACE_ON, PLAN_TRACE_ON },
		{ TRIGGER_TRACE_OFF, PLAN_TRACE_OFF_AT },
		{ TRIGGER_FINISH, PLAN_FINISH },
		{ TRIGGER_CALLSITE, PLAN_CALLSITE },
		{ TRIGGER_RECOVER, PLAN_RECOVER },
		{ TRIGGER_READ, PLAN_READ },
		{ TRIGGER_LOCATION, PLAN_LOCATION },
		{ TRIGGER_LOCATION_OUT, PLAN_LOCATION_OUT },
	};
	struct made *made = *state;

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		const struct trigger trigger = { .flags = flags[i].trigger };
		uint32_t index = rule_set_add(&made->set, &trigger);

		assert_int_equal(index, i);
		assert_int_equal(rule_at(made, index)->flags, flags[i].rule);
	}
}

/* A value without its flag does not count: the rules are equal. */
TEST_WITH(values_count_with_their_flags, setup, teardown)
{
	struct made *made = *state;
	struct trigger trigger = {
		.flags = TRIGGER_DEPTH | TRIGGER_TIME | TRIGGER_SIZE | TRIGGER_READ,
		.read = READ_STATM,
		.depth = 7,
		.time_ns = 8000,
		.size = 90,
	};
	const struct plan_rule *rule;

	assert_int_equal(rule_set_add(&made->set, &trigger), 0);
	rule = rule_at(made, 0);
	assert_int_equal(rule->read, PLAN_READ_STATM);
	assert_int_equal(rule->depth, 7);
	assert_int_equal(rule->time_ns, 8000);
	assert_int_equal(rule->size, 90);
	assert_int_equal(rule->nr_conds, 0);

	trigger.flags = TRIGGER_FILTER;
	assert_int_equal(rule_set_add(&made->set, &trigger), 1);
	rule = rule_at(made, 1);
	assert_int_equal(rule->read | rule->depth | rule->size | rule->time_ns, 0);
	trigger.depth = 1;
	trigger.read = 0;
	assert_int_equal(rule_set_add(&made->set, &trigger), 1);
	assert_int_equal(made->rules.len, 2 * sizeof(*rule));

	trigger.flags = TRIGGER_SIZE;
	trigger.size = UINT32_MAX;
	assert_int_equal(rule_set_add(&made->set, &trigger), 2);
	assert_int_equal(rule_at(made, 2)->size, UINT32_MAX);
	trigger.size = 1ULL << 40;
	assert_int_equal(rule_set_add(&made->set, &trigger), 2);
}

TEST_WITH(for_readers_only, setup, teardown)
{
	struct made *made = *state;
	const struct trigger trigger = { .flags = TRIGGER_COLOR };

	assert_int_equal(rule_set_add(&made->set, &trigger), PLAN_NO_RULE);
	assert_int_equal(made->rules.len, 0);
}

/* Many different rules are all found again: the table grows and loses none. */
TEST_WITH(many_rules, setup, teardown)
{
	struct made *made = *state;
	struct trigger trigger = { .flags = TRIGGER_DEPTH };

	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 300; i++) {
			trigger.depth = i;
			assert_int_equal(rule_set_add(&made->set, &trigger), i);
		}
	}
	assert_int_equal(made->rules.len, 300 * sizeof(struct plan_rule));
	assert_true(made->set.nr_slots >= 600);
}

static void parse(const char *text, struct cond *cond)
{
	size_t wrong_at;

	assert_int_equal(cond_parse(text, strlen(text), cond, &wrong_at, NULL), 0);
}

static uint32_t add(struct made *made, uint32_t flags, const struct cond *cond)
{
	const struct trigger trigger = { .flags = flags | TRIGGER_IF, .cond = cond };

	return rule_set_add(&made->set, &trigger);
}

TEST_WITH(numbers, setup, teardown)
{
	struct made *made = *state;
	struct cond cond = { 0 };
	const struct plan_cond *conds;
	uint32_t index;
	double real;

	parse("arg1 == 5 && arg2/i16 < -3 || fparg3 >= 2.5", &cond);
	index = add(made, TRIGGER_FILTER, &cond);
	assert_int_equal(rule_at(made, index)->flags, PLAN_FILTER | PLAN_COND);
	assert_int_equal(rule_at(made, index)->nr_conds, 3);
	assert_int_equal(made->conds.len, 3 * sizeof(*conds));
	conds = conds_of(made, index);
	assert_int_equal(conds[0].kind, PLAN_COND_INT);
	assert_int_equal(conds[0].index, 1);
	assert_int_equal(conds[0].compare, PLAN_EQ);
	assert_int_equal(conds[0].value, 5);
	assert_int_equal(conds[0].starts_alternative, 0);
	assert_int_equal(conds[1].index, 2);
	assert_int_equal(conds[1].bytes, 2);
	assert_int_equal(conds[1].is_signed, 1);
	assert_int_equal(conds[1].compare, PLAN_LT);
	assert_int_equal(conds[1].value, -3);
	assert_int_equal(conds[1].starts_alternative, 0);
	assert_int_equal(conds[2].kind, PLAN_COND_FLOAT);
	assert_int_equal(conds[2].index, 3);
	assert_int_equal(conds[2].compare, PLAN_GE);
	assert_int_equal(conds[2].starts_alternative, 1);
	memcpy(&real, &conds[2].value, sizeof(real));
	assert_true(real == 2.5);
	cond_deinit(&cond);
}

/* Functions with equal conditions share one condition. A rule without filters has no condition. */
TEST_WITH(shared, setup, teardown)
{
	struct made *made = *state;
	struct cond one = { 0 };
	struct cond other = { 0 };
	uint32_t index;

	parse("arg1 == 5", &one);
	parse("arg1 == 6", &other);
	index = add(made, TRIGGER_FILTER, &one);
	assert_int_equal(add(made, TRIGGER_FILTER, &one), index);
	assert_int_equal(made->conds.len, sizeof(struct plan_cond));
	index = add(made, TRIGGER_NOTRACE, &one);
	assert_int_equal(rule_at(made, index)->cond, 0);
	assert_int_equal(rule_at(made, index)->flags, PLAN_NOTRACE | PLAN_COND);
	index = add(made, TRIGGER_NOTRACE, &other);
	assert_int_equal(rule_at(made, index)->cond, 1);
	assert_int_equal(made->conds.len, 2 * sizeof(struct plan_cond));

	index = add(made, TRIGGER_TRACE_ON, &other);
	assert_int_equal(rule_at(made, index)->flags, PLAN_TRACE_ON);
	assert_int_equal(rule_at(made, index)->nr_conds, 0);
	assert_int_equal(made->conds.len, 2 * sizeof(struct plan_cond));
	cond_deinit(&one);
	cond_deinit(&other);
}

/* Texts follow all terms of their condition; each takes a multiple of 16 bytes. */
TEST_WITH(texts, setup, teardown)
{
	struct made *made = *state;
	struct cond cond = { 0 };
	const struct plan_cond *conds;
	uint32_t index;

	parse("arg1 == \"0123456789abcdef\" && arg2/S ^= \"be\" && retval/s != \"x\"", &cond);
	index = add(made, TRIGGER_NOTRACE, &cond);
	conds = conds_of(made, index);
	assert_int_equal(rule_at(made, index)->nr_conds, 3);
	assert_int_equal(made->conds.len, 6 * sizeof(*conds));
	assert_int_equal(conds[0].kind, PLAN_COND_TEXT);
	assert_int_equal(conds[0].string, CAPTURE_STRING);
	assert_int_equal(conds[0].len, 16);
	assert_int_equal(conds[0].value, 0);
	assert_memory_equal(conds + 3, "0123456789abcdef", 16);
	assert_int_equal(conds[1].kind, PLAN_COND_PREFIX);
	assert_int_equal(conds[1].string, CAPTURE_STD_STRING);
	assert_int_equal(conds[1].len, 2);
	assert_int_equal(conds[1].value, 16);
	assert_memory_equal(conds + 4, "be\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	assert_int_equal(conds[2].compare, PLAN_NE);
	assert_int_equal(conds[2].index, 0);
	assert_int_equal(conds[2].value, 32);
	assert_memory_equal(conds + 5, "x\0\0", 4);

	made->set.has_llvm_strings = true;
	index = add(made, TRIGGER_NOTRACE, &cond);
	conds = conds_of(made, index);
	assert_int_equal(conds[0].string, CAPTURE_STRING);
	assert_int_equal(conds[1].string, CAPTURE_STD_STRING_LLVM);
	assert_int_equal(rule_at(made, index)->cond, 6);
	cond_deinit(&cond);
}

TEST_WITH(expressions, setup, teardown)
{
	struct made *made = *state;
	struct automaton automaton;
	struct cond cond = { 0 };
	const struct plan_cond *conds;
	uint32_t index;

	parse("arg1 =~ \"^a+b$\"", &cond);
	index = add(made, TRIGGER_FILTER, &cond);
	conds = conds_of(made, index);
	assert_int_equal(conds[0].kind, PLAN_COND_AUTOMATON);
	assert_int_equal(conds[0].value, 0);
	assert_int_equal(made->conds.len, sizeof(*conds) + sizeof(automaton));
	assert_int_equal(regex_plan("^a+b$", &automaton, NULL), 0);
	assert_memory_equal(conds + 1, &automaton, sizeof(automaton));
	cond_deinit(&cond);
}

/* A text longer than any recorded one is cut to the longest that can be compared. */
TEST_WITH(long_text, setup, teardown)
{
	struct made *made = *state;
	struct cond cond = { 0 };
	char text[400];
	uint32_t index;

	strcpy(text, "arg1 == \"");
	memset(text + strlen(text), 'y', 256);
	strcpy(text + strlen("arg1 == \"") + 256, "\"");
	parse(text, &cond);
	index = add(made, TRIGGER_FILTER, &cond);
	assert_int_equal(conds_of(made, index)->len, 255);
	assert_int_equal(made->conds.len, sizeof(struct plan_cond) + 256);
	cond_deinit(&cond);
}

/* In Python each argument is a text. A missing one is number 0, whose text is never set. */
TEST_WITH(arguments_that_are_texts, setup, teardown)
{
	static const struct {
		const char *text;
		unsigned index;
		unsigned kind;
	} rows[] = {
		{ "arg1 == 5", 1, PLAN_COND_NUMBER },
		{ "arg2/i16 < -3", 2, PLAN_COND_NUMBER },
		{ "arg3 == 5", 0, PLAN_COND_NUMBER },
		{ "arg2/f64 >= 2.5", 2, PLAN_COND_REAL },
		{ "fparg1 >= 2.5", 0, PLAN_COND_REAL },
		{ "arg2 == \"x\"", 2, PLAN_COND_TEXT },
		{ "arg2/S ^= \"x\"", 2, PLAN_COND_PREFIX },
		{ "arg3 == \"x\"", 0, PLAN_COND_TEXT },
	};
	struct made *made = *state;

	made->set.has_texts = true;
	made->set.nr_texts = 2;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cond cond = { 0 };
		const struct plan_cond *found;

		parse(rows[i].text, &cond);
		found = conds_of(made, add(made, TRIGGER_FILTER, &cond));
		assert_int_equal(found->index, rows[i].index);
		assert_int_equal(found->kind, rows[i].kind);
		assert_int_equal(found->string, CAPTURE_TEXT);
		cond_deinit(&cond);
	}
}

/* If one filter opts a function in, and another filter opts it out, a rule that opts in stays. */
TEST_WITH(opted_in_in_vain, setup, teardown)
{
	struct made *made = *state;
	struct filters filters = { 0 };
	struct filter_subject subject = { .name = "outer", .name_len = 5, .module = "prog" };
	struct uft_err err = { 0 };

	assert_int_equal(
		filters_add(&filters, SPEC_FILTER, MATCH_REGEX, "!^in;^ou;^out;!^outer$", &err), 0);
	assert_int_equal(filters_prepare(&filters, &err), 0);
	rule_set_note_opted_in(&made->set, &filters, &subject);
	assert_int_equal(made->rules.len, sizeof(struct plan_rule));
	assert_int_equal(rule_at(made, 0)->flags, PLAN_FILTER);
	subject.name = "inner";
	rule_set_note_opted_in(&made->set, &filters, &subject);
	subject.name = "other";
	rule_set_note_opted_in(&made->set, &filters, &subject);
	assert_int_equal(made->rules.len, sizeof(struct plan_rule));
	filters_deinit(&filters);
}
