/*
 * Unit tests of cmds/record/plan/names/callables.c: functions of Python, with a recording in
 * memory.
 */
#include "tests/unit/lib/unit.h"

#include <errno.h>

#include "cmds/record/plan/names/callable_values.h"
#include "cmds/record/plan/names/callables.h"
#include "cmds/terminal/msg.h"
#include "tests/unit/lib/record/store_memory.h"
#include "utils/format/callables.h"
#include "utils/format/probe/plan.h"

struct place {
	struct store_memory memory;
	struct filters filters;
	struct record_settings settings;
	struct callables all;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	store_memory_init(&p->memory);
	p->settings.filters = &p->filters;
	callables_init(&p->all, &p->settings, &p->memory.store);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	callables_deinit(&p->all);
	filters_deinit(&p->filters);
	store_memory_deinit(&p->memory);
	free(p);
	return 0;
}

/* @text: all filters, as in one -F; "!..." opts out */
static void set_filters(struct place *p, const char *text)
{
	struct uft_err err = { 0 };

	if (filters_add(&p->filters, SPEC_FILTER, MATCH_REGEX, text, &err) < 0 ||
	    filters_prepare(&p->filters, &err) < 0)
		fail_msg("%s", err.text);
}

static uint32_t addr_of(struct place *p, const char *name)
{
	const struct callable *c = callables_add(&p->all, name, "a.py", 7, 0, false);

	return c ? c->addr : 0;
}

static void check_file(struct place *p, const char *name, const char *expected)
{
	struct strbuf content cleanup_strbuf = { 0 };

	store_read(&p->memory.store, name, SIZE_MAX, &content);
	assert_string_equal(strbuf_str(&content), expected);
}

TEST_WITH(a_name_has_one_number, setup, teardown)
{
	struct place *p = *state;

	assert_int_equal(addr_of(p, "f"), 1);
	assert_int_equal(addr_of(p, "g"), 2);
	assert_int_equal(addr_of(p, "f"), 1);
	/* A function with another line or file, or of the language C, is another function. */
	assert_int_equal(callables_add(&p->all, "f", "a.py", 8, 0, false)->addr, 3);
	assert_int_equal(callables_add(&p->all, "f", "b.py", 7, 0, false)->addr, 4);
	assert_int_equal(callables_add(&p->all, "f", "a.py", 7, 0, true)->addr, 5);
}

TEST_WITH(names_are_written_at_once_and_sorted_at_the_end, setup, teardown)
{
	struct place *p = *state;

	set_filters(p, "!^late$");
	addr_of(p, "late");
	addr_of(p, "f\ng");
	check_file(p, "python.fake.sym",
		   "# symbols: 0\n# path name: python.fake\n"
		   "00000000003fff00 T late\n"
		   "00000000003fff01 ? __sym_end\n"
		   "0000000000000001 T f?g\n"
		   "0000000000000002 ? __sym_end\n");
	p->settings.captures.has_lines = true;
	callables_finish(&p->all);
	check_file(p, "python.fake.sym",
		   "# symbols: 4\n# path name: python.fake\n"
		   "0000000000000001 T f?g\n"
		   "0000000000000002 ? __sym_end\n"
		   "00000000003fff00 T late\n"
		   "00000000003fff01 ? __sym_end\n");
	check_file(p, "python.fake.dbg",
		   "# path name: python.fake\nF: 1 f?g\nL: 7 a.py\nF: 3fff00 late\nL: 7 a.py\n");
}

/* The program chooses the names, which get one line each. */
TEST_WITH(names_are_printable, setup, teardown)
{
	struct place *p = *state;
	const struct callable *c = callables_add(&p->all, "a\x01\x1f \x7f~\xc3\xa4", "b\n.py", 7, 0,
						 true);

	assert_string_equal(c->name, "a?? ?~\xc3\xa4");
	assert_string_equal(c->file, "b?.py");
	assert_true(c->is_native);
	/* Functions with different original names stay different, even if their printable names are equal. */
	c = callables_add(&p->all, "a\x02\x1f \x7f~\xc3\xa4", "b\n.py", 7, 0, true);
	assert_int_equal(c->addr, 2);
	assert_int_equal(p->all.nr, 2);
	check_file(p, "python.fake.sym",
		   "# symbols: 0\n# path name: python.fake\n"
		   "0000000000000001 P a?? ?~\xc3\xa4\n"
		   "0000000000000002 ? __sym_end\n"
		   "0000000000000002 P a?? ?~\xc3\xa4\n"
		   "0000000000000003 ? __sym_end\n");
}

TEST_WITH(without_functions_there_is_no_file, setup, teardown)
{
	struct place *p = *state;

	p->settings.captures.has_lines = true;
	callables_finish(&p->all);
	check_file(p, "python.fake.sym", "");
	check_file(p, "python.fake.dbg", "");
	/* Without an option about lines or values there is no debug information. */
	p->settings.captures.has_lines = false;
	addr_of(p, "f");
	callables_finish(&p->all);
	check_file(p, "python.fake.dbg", "");
	/* The debug information leaves out a function whose file or line is unknown. */
	p->settings.captures.has_lines = true;
	callables_add(&p->all, "g", "", 7, 0, false);
	callables_add(&p->all, "h", "c.py", 0, 0, false);
	callables_finish(&p->all);
	check_file(p, "python.fake.dbg", "# path name: python.fake\nF: 1 f\nL: 7 a.py\n");
	assert_int_equal(p->all.error, 0);
}

/* The number of arguments tells functions of Python apart if their values are wanted. */
TEST_WITH(numbers_of_arguments, setup, teardown)
{
	struct place *p = *state;

	for (unsigned nr = 0; nr < 3; nr++)
		assert_int_equal(callables_add(&p->all, "f", "a.py", 7, nr, false)->nr_args, 0);
	assert_int_equal(p->all.nr, 1);
	p->settings.captures.is_auto = true;
	for (unsigned nr = 1; nr < 4; nr++)
		assert_int_equal(callables_add(&p->all, "f", "a.py", 7, nr, false)->nr_args, nr);
	assert_int_equal(p->all.nr, 4);
	for (unsigned nr = 0; nr < 3; nr++)
		assert_int_equal(callables_add(&p->all, "f", "a.py", 7, nr, true)->nr_args, 0);
	assert_int_equal(p->all.nr, 5);
}

TEST_WITH(a_range_has_256_numbers, setup, teardown)
{
	struct place *p = *state;
	char name[16];

	set_filters(p, "^a");
	for (unsigned i = 0; i < 256; i++) {
		snprintf(name, sizeof(name), "a%u", i);
		assert_int_equal(addr_of(p, name), 0x3fff00 + i);
	}
	assert_int_equal(p->all.nr_ranges, 1);
	assert_int_equal(addr_of(p, "a256"), 0x3ffe00);
	assert_int_equal(p->all.nr_ranges, 2);
	assert_int_equal(addr_of(p, "a0"), 0x3fff00);
}

TEST_WITH(numbers_end, setup, teardown)
{
	struct place *p = *state;

	set_filters(p, "^a");
	p->all.lowest = 1000;
	p->all.next = 744;
	assert_int_equal(addr_of(p, "a1"), 0);
	assert_int_equal(p->all.nr_refused, 1);
	p->all.next = 743;
	assert_int_equal(addr_of(p, "a1"), 744);
	assert_int_equal(p->all.lowest, 744);
	assert_int_equal(addr_of(p, "b"), 743);
	assert_int_equal(addr_of(p, "c"), 0);
	assert_int_equal(addr_of(p, "a2"), 745);
	assert_int_equal(p->all.nr_refused, 2);
	assert_int_equal(p->all.nr, 3);
	/* A function that is known keeps its number. */
	assert_int_equal(addr_of(p, "b"), 743);
}

/* The names and files of all functions may take 256 MB. Each function here takes 22 bytes. */
TEST_WITH(room_for_names_ends, setup, teardown)
{
	struct place *p = *state;

	p->all.bytes = (256U << 20) - 21;
	assert_int_equal(addr_of(p, "f"), 0);
	assert_int_equal(p->all.nr_refused, 1);
	p->all.bytes = (256U << 20) - 22;
	assert_int_equal(addr_of(p, "f"), 1);
	assert_int_equal(p->all.bytes, 256U << 20);
	assert_int_equal(addr_of(p, "g"), 0);
	assert_int_equal(p->all.nr_refused, 2);
}

/* Functions with the same rule share one range, even if other functions come between them. */
TEST_WITH(rules_have_ranges, setup, teardown)
{
	struct place *p = *state;
	struct strbuf lists[PLAN_KINDS] = { { 0 } };
	const struct plan_func *func;
	const struct plan_rule *rule;

	set_filters(p, "^a;!^b");
	assert_int_equal(addr_of(p, "a1"), 0x3fff00);
	assert_int_equal(addr_of(p, "b1"), 0x3ffe00);
	assert_int_equal(addr_of(p, "c1"), 1);
	assert_int_equal(addr_of(p, "a2"), 0x3fff01);
	assert_int_equal(callables_add(&p->all, "b2", "", 0, 0, true)->range, 2);
	callables_plan_all(&p->all, lists);
	assert_int_equal(lists[PLAN_FUNCS].len, 2 * sizeof(*func));
	func = (const struct plan_func *)lists[PLAN_FUNCS].data;
	rule = (const struct plan_rule *)lists[PLAN_RULES].data;
	assert_int_equal(func[0].start, 0x3fff00);
	assert_int_equal(func[0].end, 0x400000);
	assert_int_equal(rule[func[0].rule].flags, PLAN_FILTER);
	assert_int_equal(func[1].start, 0x3ffe00);
	assert_int_equal(func[1].end, 0x3fff00);
	assert_int_equal(rule[func[1].rule].flags, PLAN_NOTRACE);
	for (size_t i = 0; i < PLAN_KINDS; i++)
		strbuf_deinit(&lists[i]);
}

/* Rules choose the captured values; functions with the same number of values share a range. */
TEST_WITH(values_are_chosen, setup, teardown)
{
	struct place *p = *state;
	struct strbuf lists[PLAN_KINDS] = { { 0 } };
	const struct capture_step *steps;
	const struct callable *c;

	p->settings.captures.is_auto = true;
	c = callables_add(&p->all, "f", "a.py", 7, 2, false);
	assert_int_equal(c->values, CALLABLE_RESULT | 1 << 1 | 1 << 2);
	assert_int_equal(c->addr, 0x3fff00);
	assert_int_equal(callables_add(&p->all, "g", "a.py", 8, 2, false)->addr, 0x3fff01);
	assert_int_equal(callables_add(&p->all, "h", "a.py", 9, 0, false)->values, CALLABLE_RESULT);
	assert_int_equal(callables_add(&p->all, "len", "", 0, 0, true)->values, 0);
	callables_plan_range(&p->all, 1, lists);
	assert_int_equal(((const struct plan_func *)lists[PLAN_FUNCS].data)->rule, PLAN_NO_RULE);
	assert_int_equal(((const struct plan_func *)lists[PLAN_FUNCS].data)->capture, 0);
	assert_int_equal(lists[PLAN_STEPS].len, 4 * sizeof(*steps));
	steps = (const struct capture_step *)lists[PLAN_STEPS].data;
	assert_int_equal(steps[0].bytes, 2);
	assert_int_equal(steps[0].index, 1);
	assert_int_equal(steps[2].op, CAPTURE_TEXT);
	assert_int_equal(steps[2].index, 2);
	check_file(p, "python.fake.dbg",
		   "# path name: python.fake\n"
		   "F: 3fff00 f\nL: 7 a.py\nA: @arg1/s,arg2/s\nR: @retval/s\n"
		   "F: 3fff01 g\nL: 8 a.py\nA: @arg1/s,arg2/s\nR: @retval/s\n"
		   "F: 3ffe00 h\nL: 9 a.py\nR: @retval/s\n");
	for (size_t i = 0; i < PLAN_KINDS; i++)
		strbuf_deinit(&lists[i]);
}

/* Parameters beyond the limit are left out; a rule with too many values captures none. */
TEST_WITH(values_have_a_limit, setup, teardown)
{
	struct place *p = *state;
	const struct callable *c;

	p->settings.captures.is_auto = true;
	c = callables_add(&p->all, "f", "a.py", 7, 1000, false);
	assert_int_equal(c->values, (1ULL << CALLABLE_VALUE_BITS) - 1);
}

/* When the filters change, functions keep their numbers, and old ranges are not used again. */
TEST_WITH(filters_may_change, setup, teardown)
{
	struct place *p = *state;
	struct strbuf lists[PLAN_KINDS] = { { 0 } };
	const struct plan_func *func;

	addr_of(p, "x");
	set_filters(p, "!^x$");
	callables_bind_anew(&p->all);
	assert_int_equal(addr_of(p, "x"), 1);
	callables_plan_all(&p->all, lists);
	assert_int_equal(lists[PLAN_FUNCS].len, sizeof(*func));
	func = (const struct plan_func *)lists[PLAN_FUNCS].data;
	assert_int_equal(func->start, 1);
	assert_int_equal(func->end, 2);
	for (size_t i = 0; i < PLAN_KINDS; i++)
		strbuf_deinit(&lists[i]);
}

/* Check the values and the capture program of a function with @nr_args arguments. */
static void check_values(struct place *p, const char *name, uint32_t nr_args, uint64_t values,
			 const uint32_t *indices, size_t nr)
{
	struct strbuf lists[PLAN_KINDS] = { { 0 } };
	const struct callable *c = callables_add(&p->all, name, "a.py", 7, nr_args, false);
	const struct capture_step *steps;

	assert_int_equal(c->values, values);
	/* The function itself tells that it has a result, which the rules do not describe. */
	assert_int_equal(c->told, values & CALLABLE_RESULT ? ARGRULES_RETVAL : 0);
	callables_plan_range(&p->all, c->range, lists);
	assert_int_equal(lists[PLAN_STEPS].len, nr * sizeof(*steps));
	steps = (const struct capture_step *)lists[PLAN_STEPS].data;
	assert_int_equal(steps[0].op, CAPTURE_HEAD);
	for (size_t i = 1; i < nr; i++) {
		assert_int_equal(steps[i].op, CAPTURE_TEXT);
		assert_int_equal(steps[i].index, indices[i]);
	}
	/* The head has the number of arguments, and whether there is a result. */
	assert_int_equal(steps[0].index, (values & CALLABLE_RESULT) != 0);
	assert_int_equal(steps[0].bytes, nr - 1 - steps[0].index);
	for (size_t i = 0; i < PLAN_KINDS; i++)
		strbuf_deinit(&lists[i]);
}

/*
 * The rules name arguments. An argument that the function lacks refers to text 0, which is never
 * set.
 */
TEST_WITH(named_values_are_chosen, setup, teardown)
{
	static const char args[] = "^f@arg2,arg1;^g@arg3;^h@arg2,fparg1,arg1";
	struct place *p = *state;
	struct argrules rules cleanup_argrules = { 0 };
	const struct argrules_source source = { .about = ARGRULES_ARGS, .match = MATCH_REGEX };
	const struct argrules_source results = { .about = ARGRULES_RETVAL, .match = MATCH_REGEX };

	assert_int_equal(argrules_parse(&rules, args, &source, NULL), 0);
	assert_int_equal(argrules_parse(&rules, "^g;^r", &results, NULL), 0);
	p->settings.captures.rules = &rules;
	check_values(p, "f", 2, 1 << 1 | 1 << 2, (const uint32_t[]){ 0, 2, 1 }, 3);
	check_values(p, "f1", 1, 1 << 1, (const uint32_t[]){ 0, 0, 1 }, 3);
	check_values(p, "f0", 0, 0, (const uint32_t[]){ 0, 0, 0 }, 3);
	check_values(p, "g", 2, CALLABLE_RESULT, (const uint32_t[]){ 0, 0, 0 }, 3);
	check_values(p, "g3", 3, CALLABLE_RESULT | 1 << 3, (const uint32_t[]){ 0, 3, 0 }, 3);
	check_values(p, "r", 1, CALLABLE_RESULT, (const uint32_t[]){ 0, 0 }, 2);
	/* Functions without a rule, and those in C, have no values. */
	assert_int_equal(addr_of(p, "other"), 1);
	assert_int_equal(callables_add(&p->all, "f", "", 0, 0, true)->addr, 2);
}

TEST(items_of_functions)
{
	struct callable_items items;
	const char *most = callable_items_of(&items, UINT32_MAX);
	char last[32];

	snprintf(last, sizeof(last), ",arg%d/s", CALLABLE_ARGS_MAX);
	assert_true(strlen(most) > strlen(last) && strlen(most) < sizeof(items.texts[0]));
	assert_string_equal(most + strlen(most) - strlen(last), last);
	assert_string_equal(callable_items_of(&items, 0), "");
	assert_string_equal(callable_items_of(&items, 1), "arg1/s");
	assert_string_equal(callable_items_of(&items, 3), "arg1/s,arg2/s,arg3/s");
	assert_string_equal(items.texts[1], "arg1/s");
}

static void check_warnings(const struct callables *all, const char *expected)
{
	struct msg msg = { 0 };
	char *text = NULL;
	size_t len;

	msg.file = open_memstream(&text, &len);
	assert_non_null(msg.file);
	callables_warn(all, &msg);
	fclose(msg.file);
	assert_string_equal(text, expected);
	free(text);
}

#define VAIN                                                                          \
	"WARN: conditions (if:) on fpargN hold for no Python function (use argN/f), " \
	"and no conditions hold for functions in C\n"
#define NO_FILE "WARN: cannot write the names of Python functions: No space left on device\n"
#define REFUSED(nr)                                                                              \
	"WARN: " nr " Python functions are not recorded: there is room for 4194303, with names " \
	"and files of 256 MB in all\n"

TEST(each_warning_has_its_reason)
{
	check_warnings(&(struct callables){ 0 }, "");
	check_warnings(&(struct callables){ .has_vain_conditions = true }, VAIN);
	check_warnings(&(struct callables){ .error = -ENOSPC }, NO_FILE);
	check_warnings(&(struct callables){ .nr_refused = 1 }, REFUSED("1"));
	check_warnings(&(struct callables){ .has_vain_conditions = true,
					    .error = -ENOSPC,
					    .nr_refused = 70000 },
		       VAIN NO_FILE REFUSED("70000"));
}
